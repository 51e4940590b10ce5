package plain_test

import (
	"testing"
	"unicode/utf8"

	"atelier/agent/internal/plain"
	"atelier/media"
)

// TestCutsAtCharacters: Clip counts bytes and media.Head counts characters; neither splits a character, for any number.
func TestCutsAtCharacters(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text       string
		n          int
		clip, head string
	}{
		{"", 0, "", ""},
		{"", 5, "", ""},
		{"abc", 3, "abc", "abc"},
		{"abcd", 3, "abc…", "abc"},
		{"abc", 0, "…", ""},
		{"äöü", 6, "äöü", "äöü"},
		{"äöü", 5, "äö…", "äöü"},
		{"äöü", 1, "…", "ä"},
		{"😀😀", 4, "😀…", "😀😀"},
	} {
		if got := plain.Clip(c.text, c.n); got != c.clip {
			t.Errorf("Clip(%q, %d) is %q, want %q", c.text, c.n, got, c.clip)
		}
		if got := media.Head(c.text, c.n); got != c.head {
			t.Errorf("Head(%q, %d) is %q, want %q", c.text, c.n, got, c.head)
		}
	}
	if got := plain.Clip("a\xffbcd", 3); !utf8.ValidString(got) || got != "ab…" {
		t.Errorf("broken UTF-8 is cut to %q", got)
	}
}

func TestBlank(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"": true, " \t\r\n\u00a0": true, " x ": false, "\u200b": false} {
		if got := plain.Blank(text); got != want {
			t.Errorf("Blank(%q) is %v", text, got)
		}
	}
}

func TestLists(t *testing.T) {
	t.Parallel()
	for want, list := range map[string][]string{"none": nil, "a": {"a"}, "a, b": {"a", "b"}} {
		if got := plain.Joined(list); got != want {
			t.Errorf("Joined(%v) is %q, want %q", list, got, want)
		}
	}
}

// TestSameName: names are equal if they differ only in case, blanks, dashes and underscores.
func TestSameName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"Generate Image", "generate_image", true},
		{"GenerateImage", "generate-image", true},
		{"", "", true},
		{"", " ", true},
		{"Generate Image", "Generate Images", false},
		{"Generate.Image", "Generate Image", false},
		{"", "x", false},
	} {
		if got := plain.SameName(c.a, c.b); got != c.want || plain.SameName(c.b, c.a) != got {
			t.Errorf("SameName(%q, %q) is %v, want %v both ways", c.a, c.b, got, c.want)
		}
	}
}

// TestJSON: HTML is not escaped, and a value that cannot be encoded becomes null.
func TestJSON(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		value any
		want  string
	}{
		{nil, "null"},
		{map[string]any{"b": "<a&b>", "a": 1}, `{"a":1,"b":"<a&b>"}`},
		{"line\n", `"line\n"`},
		{func() {}, "null"},
		{map[string]any{"secret": "x", "bad": make(chan int)}, "null"},
	} {
		if got := string(plain.JSON(c.value)); got != c.want {
			t.Errorf("JSON(%T) is %s, want %s", c.value, got, c.want)
		}
	}
}
