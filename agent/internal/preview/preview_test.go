package preview_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"atelier/agent/internal/preview"
)

// shownParts returns what is shown of an answer that arrives in pieces, 40 ms apart.
func shownParts(t *testing.T, pieces ...string) (shown []string, text string) {
	t.Helper()
	now, total := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), 0
	m := &preview.Message{
		Now: func() time.Time { return now },
		Emit: func(text string, offset int) {
			if offset != total {
				t.Errorf("%q is at %d, want %d", text, offset, total)
			}
			total += utf8.RuneCountInString(text)
			shown = append(shown, text)
		},
	}
	for _, p := range pieces {
		now = now.Add(40 * time.Millisecond)
		m.Write(p)
	}
	if m.Shown() != strings.Join(shown, "") {
		t.Errorf("shown is %q, emitted were %q", m.Shown(), shown)
	}
	return shown, m.Shown()
}

func TestShowsTheMessageOfAStep(t *testing.T) {
	t.Parallel()
	data := strings.Repeat("iVBORw0KGgo", 30)
	for name, c := range map[string]struct {
		pieces []string
		want   string
	}{
		"a message":             {[]string{`{"reasoning":"I greet","mess`, `age":"Hello `, `wörld","done":true}`}, "Hello wörld"},
		"no message":            {[]string{`{"reasoning":"hm",`, `"done":true}`}, ""},
		"plain text":            {[]string{"Thinking about ", `{"message":"a draft"}`}, ""},
		"nothing":               {nil, ""},
		"an escape in two":      {[]string{`{"message":"a\`, `n\u00e`, `4"`}, "a\nä"},
		"a data URL":            {[]string{`{"message":"Here `, `it is: data:image/png;base64,`, data, ` and more"}`}, "Here "},
		"bare base64":           {[]string{`{"message":"Here `, data, ` and more"}`}, "Here "},
		"base64 at once":        {[]string{`{"message":"Here ` + data + ` and more"}`}, ""},
		"a word that is long":   {[]string{`{"message":"See `, strings.Repeat("a", 100), ` there"}`}, "See " + strings.Repeat("a", 100) + " there"},
		"a word that is no end": {[]string{`{"message":"See `, strings.Repeat("a", 100)}, "See "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if shown, got := shownParts(t, c.pieces...); got != c.want {
				t.Errorf("%q is shown, want %q", shown, c.want)
			}
		})
	}
}

// TestShowsSeldom: pieces in quick succession are shown together.
func TestShowsSeldom(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var shown []string
	m := &preview.Message{Now: func() time.Time { return now }, Emit: func(text string, _ int) { shown = append(shown, text) }}
	m.Write(`{"message":"`)
	for range 4 {
		now = now.Add(20 * time.Millisecond)
		m.Write("ab ")
	}
	if got := fmt.Sprint(len(shown), shown); got != "2 [ab ab  ab ab ]" {
		t.Errorf("shown %s", got)
	}
	now = now.Add(-time.Hour) // a clock that is set back blocks nothing
	m.Write("cd ")
	if m.Shown() != "ab ab ab ab cd " {
		t.Errorf("after the clock was set back: %q", m.Shown())
	}
}

func TestNothingShown(t *testing.T) {
	t.Parallel()
	var none *preview.Message
	if none.Shown() != "" {
		t.Error("nil shows something")
	}
}
