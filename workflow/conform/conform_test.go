package conform_test

import (
	"os"
	"slices"
	"testing"

	"atelier/media"
	"atelier/workflow/conform"
	"atelier/workflow/ordered"
)

func decode(t *testing.T, s string) any {
	t.Helper()
	v, err := ordered.Decode([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestCheck: each fault gives one problem with its place.
func TestCheck(t *testing.T) {
	t.Parallel()
	s, err := conform.Compile(decode(t, `{"type": "object", "required": ["a"], "additionalProperties": false, "properties": {
		"a": {"type": "integer", "minimum": 1}, "b": {"anyOf": [{"type": "string"}, {"type": "object", "additionalProperties": false, "properties": {"x": {"enum": [1, 2]}}}]},
		"c": {"type": "array", "items": {"type": "string", "format": "date"}}, "d": false}}`))
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		`{"a": 1, "b": "t", "c": ["2026-11-23"]}`: "", `{"a": 1, "b": {"x": 2}}`: "",
		`[]`: "", `{}`: "", `{"a": 0}`: "/a", `{"a": "1"}`: "/a", `{"a": 1, "z/y": 2}`: "/z~1y", `{"a": 1, "b": 5}`: "/b",
		`{"a": 1, "b": {"x": 3}}`: "/b/x", `{"a": 1, "b": {"y": 3}}`: "/b/y", `{"a": 1, "c": ["x"]}`: "/c/0", `{"a": 1, "d": 1}`: "/d",
	} {
		found := s.Check(decode(t, in))
		valid := in[0] == '{' && want == "" && in != `{}`
		if valid != (len(found) == 0) || !valid && (len(found) != 1 || found[0].Pointer != want || found[0].Message == "") {
			t.Errorf("%s: %v, want one at %q", in, found, want)
		}
	}
	params, err := conform.CompileParams(ordered.New("properties", ordered.New("b", true, "a", true)))
	if err != nil {
		t.Fatal(err)
	}
	if found := params.Check(decode(t, `{"a": 1, "z": 2}`)); len(found) != 1 || found[0].Message != "z is unknown: use a, b" {
		t.Errorf("an unknown name at the top: %v, want one problem that lists the names", found)
	}
	for required, want := range map[string]string{`["a"]`: "a is missing", `["a", "b"]`: "a, b are missing"} {
		s, err := conform.Compile(decode(t, `{"required": `+required+`}`))
		if err != nil {
			t.Fatal(err)
		}
		if found := s.Check(decode(t, `{}`)); len(found) != 1 || found[0].Message != want {
			t.Errorf("%v, want %s", found, want)
		}
	}
	for _, bad := range []string{`5`, `{"type": "thing"}`, `{"$ref": "file:///etc/passwd"}`, `{"$ref": "other.json"}`, `{"$ref": "#"}`, `{"properties": {"a": 5}}`, `{"pattern": "("}`} {
		if _, err := conform.Compile(decode(t, bad)); media.CodeOf(err) != media.CodeInvalid {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// TestValues: the places that are wrong equal those in a file that the web pages test, too.
func TestValues(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("testdata/values.json")
	if err != nil {
		t.Fatal(err)
	}
	file, err := ordered.DecodeObject(b)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range file.List("cases") {
		c, _ := e.(*ordered.Object)
		s, err := conform.Compile(c.Object("schema"))
		if err != nil {
			t.Fatal(err)
		}
		value, _ := c.Get("value")
		wrong := []any{}
		for _, p := range s.Check(value) {
			wrong = append(wrong, p.Pointer)
		}
		if !ordered.Equal(slices.Compact(wrong), c.List("wrong")) {
			t.Errorf("%s: wrong is %v", ordered.Encode(c), wrong)
		}
	}
}

// TestNumbersOutOfRange: a number whose exponent is too large to compare is a problem at its place.
func TestNumbersOutOfRange(t *testing.T) {
	t.Parallel()
	s, err := conform.Compile(decode(t, `{"properties": {"n": {"type": "number", "minimum": 0}, "list": {"items": {"multipleOf": 2}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		`{"n": 1e9999999}`: "/n", `{"n": 1E-9999999}`: "/n", `{"list": [2, 1e99999999999999999999]}`: "/list/1", `{"other": {"x": 1e1001}}`: "/other/x", `{"n": 1e300}`: "", `{"n": "1e9999999"}`: "/n",
	} {
		found := s.Check(decode(t, in))
		if want == "" && len(found) > 0 || want != "" && (len(found) != 1 || found[0].Pointer != want) {
			t.Errorf("%s: %v, want one at %q", in, found, want)
		}
	}
}
