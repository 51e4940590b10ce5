package formtext_test

import (
	"encoding/json"
	"testing"

	"atelier/agent/formtext"
)

// TestNullableField: a field that may be null takes text like the same field that may not.
func TestNullableField(t *testing.T) {
	t.Parallel()
	for form, answers := range map[string]map[string]string{
		`{"type":"object","properties":{"n":{"type":["integer","null"]}}}`:   {"5": `{"n":5}`},
		`{"type":"object","properties":{"n":{"type":["null","boolean"]}}}`:   {"yes": `{"n":true}`},
		`{"type":"object","properties":{"n":{"type":["integer","string"]}}}`: {"x": `{"n":"x"}`},
		`{"type":["string","null"]}`:                                         {"red": `"red"`},
	} {
		f, ok := formtext.FieldOf(json.RawMessage(form))
		if !ok {
			t.Errorf("%s has no field", form)
			continue
		}
		for text, want := range answers {
			if got, err := f.AnswerText(text); err != nil || string(got) != want {
				t.Errorf("%s: %q became %s, %v", form, text, got, err)
			}
		}
	}
	if _, ok := formtext.FieldOf(json.RawMessage(`{"type":["object","null"],"properties":{"a":{},"b":{}}}`)); ok {
		t.Error("an object with two properties is one field")
	}
}
