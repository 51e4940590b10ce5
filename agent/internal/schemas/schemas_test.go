package schemas_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"atelier/agent/internal/schemas"
)

func TestCompileAndValidate(t *testing.T) {
	t.Parallel()
	s, err := schemas.Compile(json.RawMessage(`{"type":"object","required":["n"],"properties":{"n":{"$ref":"#/$defs/count"}},"$defs":{"count":{"type":"integer","minimum":1}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		value any
		want  []string // parts of the problem; nil means that the value fits
	}{
		{map[string]any{"n": 1.0}, nil},
		{map[string]any{"n": 0.0}, []string{"/n", "minimum"}},
		{map[string]any{"n": "x"}, []string{"/n", "integer"}},
		{map[string]any{}, []string{"missing", "n"}},
		{[]any{}, []string{"object"}},
		{nil, []string{"null", "object"}},
	} {
		err := s.Validate(c.value)
		if (err == nil) != (c.want == nil) {
			t.Errorf("%v: %v", c.value, err)
			continue
		}
		if err == nil {
			continue
		}
		problem := schemas.Problem(err)
		if strings.Contains(problem, "\n") || strings.Contains(problem, "urn:") {
			t.Errorf("%v: not one line for people: %q", c.value, problem)
		}
		for _, part := range c.want {
			if !strings.Contains(problem, part) {
				t.Errorf("%v: %q does not name %s", c.value, problem, part)
			}
		}
	}
}

// TestBadSchemas: an invalid schema is an error; nothing outside of the schema is read.
func TestBadSchemas(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "other.json")
	if err := os.WriteFile(file, []byte(`{"type":"string"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		schema any
		want   string
	}{
		"a number":           {json.RawMessage(`3`), ""},
		"a list":             {json.RawMessage(`[]`), ""},
		"unknown type":       {json.RawMessage(`{"type":"picture"}`), ""},
		"bad expression":     {json.RawMessage(`{"pattern":"("}`), ""},
		"missing $defs":      {json.RawMessage(`{"$ref":"#/$defs/none"}`), ""},
		"broken JSON":        {json.RawMessage(`{"type":`), ""},
		"an address":         {json.RawMessage(`{"$ref":"https://example.com/schema.json"}`), "put what $ref names under $defs"},
		"a file":             {map[string]any{"$ref": "file://" + filepath.ToSlash(file)}, "put what $ref names under $defs"},
		"another metaschema": {json.RawMessage(`{"$schema":"https://example.com/meta"}`), "put what $ref names under $defs"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := schemas.Compile(c.schema); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("want an error with %q, got %v", c.want, err)
			}
		})
	}
}

// TestProblemOfAnyError: an error of another kind and a long one become one short line.
func TestProblemOfAnyError(t *testing.T) {
	t.Parallel()
	if got := schemas.Problem(errors.New("one\n  two\tthree")); got != "one two three" {
		t.Errorf("%q", got)
	}
	if got := schemas.Problem(errors.New(strings.Repeat("word ", 1000))); len(got) > 610 {
		t.Errorf("%d bytes: %q", len(got), got)
	}
}

// TestNumbersOutOfRange: a number that the validator cannot compare is refused; it ended the process.
func TestNumbersOutOfRange(t *testing.T) {
	t.Parallel()
	s, err := schemas.Compile(json.RawMessage(`{"properties":{"n":{"type":"number","minimum":0,"maximum":9e900}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for number, want := range map[string]string{
		"1e9999999": "out of range", "-1E-99999999999999999999": "out of range", "[{\"deep\":1e1001}]": "out of range", "1e999": "at '/n'", "-1": "at '/n'", "2.5e+3": "",
	} {
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(`{"n":` + number + `}`))
		if err != nil {
			t.Fatal(err)
		}
		if err = schemas.Validate(s, v); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", number, err, want)
		}
	}
	if _, err := schemas.Compile(json.RawMessage(`{"multipleOf":1e9999999}`)); err == nil || !strings.Contains(err.Error(), "out of range") {
		t.Errorf("a schema with such a number: %v", err)
	}
}
