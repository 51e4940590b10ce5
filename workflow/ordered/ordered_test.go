package ordered_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier/media"
	"atelier/workflow/ordered"
)

func TestOrderIsKept(t *testing.T) {
	t.Parallel()
	const in = `{"z":1.50,"a":[{"y":null,"b":true},"<&>"],"m":{"2":0,"1":1e3}}`
	o, err := ordered.DecodeObject([]byte(in))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(ordered.Encode(o)); got != in {
		t.Errorf("%s", got)
	}
	o.Set("a", "x")
	o.Delete("z")
	o.Set("z", json.Number("2"))
	if got, want := string(ordered.Encode(o)), `{"a":"x","m":{"2":0,"1":1e3},"z":2}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	copied := ordered.Clone(o).(*ordered.Object)
	copied.Object("m").Set("2", nil)
	if v, _ := ordered.Get(o, "m", "2"); v != json.Number("0") {
		t.Errorf("the copy shares %v", v)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 300) + strings.Repeat("]", 300)
	for text, want := range map[string]struct {
		at      ordered.Position
		message string
	}{
		"{\n  \"a\": 1,\n  \"a\": 2}":    {ordered.Position{Line: 3, Column: 3}, "twice"},
		"{\"x\":\n {\"__proto__\": {}}}": {ordered.Position{Line: 2, Column: 3}, "__proto__"},
		"{\"a\": 1,}":                    {ordered.Position{Line: 1, Column: 8}, "valid JSON"},
		"{\"a\": 1":                      {ordered.Position{Line: 1, Column: 8}, "too early"},
		"{} {}":                          {ordered.Position{Line: 1, Column: 4}, "second value"},
		deep:                             {ordered.Position{Line: 1, Column: 258}, "nested"},
	} {
		_, err := ordered.ReadJSON([]byte(text))
		var bad *ordered.TextError
		if !errors.As(err, &bad) || media.CodeOf(err) != media.CodeInvalid || !strings.Contains(bad.Message, want.message) {
			t.Errorf("%.40q: %v", text, err)
			continue
		}
		if diff := cmp.Diff(want.at, bad.At); diff != "" {
			t.Errorf("%.40q: %s", text, diff)
		}
	}
	for _, text := range []string{"a: 1\na: 2", "__proto__: 1", "a: &x 1\nb: *x", "a: .inf", "a: 1\n---\nb: 2", "", "a: [", "? {a: 1}\n: 2", "\xff"} {
		if _, err := ordered.ReadYAML([]byte(text)); media.CodeOf(err) != media.CodeInvalid {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := ordered.ReadYAML([]byte("<<: {a: 1}")); err == nil || !strings.Contains(err.Error(), "merge") {
		t.Errorf("a merge key: %v", err)
	}
}

// TestByteOrderMark: editors that save one do not make a text invalid, nor change its positions.
func TestByteOrderMark(t *testing.T) {
	t.Parallel()
	for name, read := range map[string]func([]byte) (ordered.Document, error){"JSON": ordered.ReadJSON, "YAML": ordered.ReadYAML} {
		d, err := read([]byte("\ufeff{\"a\": 1}"))
		if err != nil || d.Position("/a") != (ordered.Position{Line: 1, Column: 2}) {
			t.Errorf("%s: %v at %+v", name, err, d.Position("/a"))
		}
	}
}

func TestPositions(t *testing.T) {
	t.Parallel()
	for name, read := range map[string]func([]byte) (ordered.Document, error){"json": ordered.ReadJSON, "yaml": ordered.ReadYAML} {
		d, err := read([]byte("{\"a\": 1,\n \"b\": [true,\n   {\"ü\": 3, \"c/d\": \"2026-11-23\"}]}"))
		if err != nil {
			t.Fatal(name, err)
		}
		for pointer, want := range map[string]ordered.Position{
			"": {Line: 1, Column: 1}, "/a": {Line: 1, Column: 2}, "/b": {Line: 2, Column: 2}, "/b/1": {Line: 3, Column: 4}, "/b/1/c~1d": {Line: 3, Column: 13}, "/b/1/missing/x": {Line: 3, Column: 4},
		} {
			if got := d.Position(pointer); got != want {
				t.Errorf("%s %s: %v, want %v", name, pointer, got, want)
			}
		}
		if got := string(ordered.Encode(d.Value)); got != `{"a":1,"b":[true,{"ü":3,"c/d":"2026-11-23"}]}` {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestEqual(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{`{"a":1,"b":[1.0]}`, `{"b":[1],"a":1e0}`, true},
		{`{"a":1}`, `{"a":1,"b":2}`, false},
		{`[1,2]`, `[2,1]`, false},
		{`"1"`, `1`, false},
		{`9007199254740993`, `9007199254740992`, false},
		{`1e20`, `100000000000000000000`, true},
		{`1e20`, `100000000000000000001`, false},
		{`null`, `false`, false},
		{`{}`, `[]`, false},
		{`1e999999999`, `1e999999998`, false},
	} {
		a, err := ordered.Decode([]byte(c.a))
		b, other := ordered.Decode([]byte(c.b))
		if err != nil || other != nil || ordered.Equal(a, b) != c.want {
			t.Errorf("%s and %s: want %v (%v, %v)", c.a, c.b, c.want, err, other)
		}
	}
}

func TestPointers(t *testing.T) {
	t.Parallel()
	path, err := ordered.Path("/a~1b/~0c//0")
	if diff := cmp.Diff([]string{"a/b", "~c", "", "0"}, path); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if got := ordered.Pointer(path...); got != "/a~1b/~0c//0" {
		t.Error(got)
	}
	for _, bad := range []string{"a", "/~", "/~2"} {
		if _, err := ordered.Path(bad); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
	if ordered.Covers("/a", "/ab") || !ordered.Covers("/a", "/a/b") || !ordered.Covers("/a", "/a") {
		t.Error("Covers")
	}
}

// TestNothingFollowsADocument: text after a YAML document is an error, whether or not it is valid YAML.
func TestNothingFollowsADocument(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"a: 1\n---\nb: 2\n", "{\"a\": 1}\n{\"b\": 2}\n", "{\"a\": 1}\n}\n", "a: 1\n...\n: [\n"} {
		if d, err := ordered.ReadYAML([]byte(text)); media.CodeOf(err) != media.CodeInvalid {
			t.Errorf("%q is read as %s, %v", text, ordered.Encode(d.Value), err)
		}
	}
	for _, text := range []string{"a: 1\n...\n", "a: 1\n# end\n"} {
		if _, err := ordered.ReadYAML([]byte(text)); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestPositionsInOneLine: positions in a long text without line ends do not take minutes.
func TestPositionsInOneLine(t *testing.T) {
	t.Parallel()
	text := "[" + strings.Repeat("1,", 1<<18) + "\"é\", 1]"
	d, err := ordered.ReadJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if at, want := d.Position("/262145"), (ordered.Position{Line: 1, Column: 2<<18 + 7}); at != want {
		t.Errorf("the last value is at %+v, want %+v", at, want)
	}
}
