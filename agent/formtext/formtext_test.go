package formtext_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"atelier/agent/formtext"
)

// TestWordsBecomeValues: words are converted to values of the question's form.
func TestWordsBecomeValues(t *testing.T) {
	t.Parallel()
	const free = `{"type":"object","required":["answer"],"properties":{"answer":{"type":"string"},"note":{"type":"string"}}}`
	for _, c := range []struct{ schema, text, want string }{
		{free, " in the \"old\" town ", `{"answer":"in the \"old\" town"}`},
		{free, "42", `{"answer":"42"}`},
		{`{"type":"string"}`, "blue", `"blue"`},
		{`{"enum":["small","large"]}`, "Large", `"large"`},
		{`{"enum":["small","large"]}`, "huge", `none of the choices: answer "small" or "large"`},
		{`{"enum":[1,2]}`, "2", `2`},
		{`{"type":"object","properties":{"n":{"type":"integer"}}}`, "12", `{"n":12}`},
		{`{"type":"object","properties":{"go":{"type":"boolean"}}}`, "No", `{"go":false}`},
		{`{"type":"object","properties":{"n":{"type":"integer"}}}`, "twelve", "not a number"},
		{`{"type":"number"}`, "Inf", "not a number"},
		{`{"type":"object","properties":{"go":{"type":"boolean"}}}`, "perhaps", "neither yes nor no"},
	} {
		f, ok := formtext.FieldOf(json.RawMessage(c.schema))
		if !ok {
			t.Errorf("%s asks for one thing", c.schema)
		}
		got, err := f.AnswerText(c.text)
		if err != nil && !strings.Contains(err.Error(), c.want) || err == nil && string(got) != c.want {
			t.Errorf("%q for %s: %s, %v, want %s", c.text, c.schema, got, err, c.want)
		}
	}
}

func TestFormsOfSeveralThings(t *testing.T) {
	t.Parallel()
	for _, form := range []string{
		`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}}`, `{"type":"array","items":{"type":"string"}}`,
		`{"type":"object","required":["gone"]}`, `{"type":"object","properties":{"list":{"type":"array"}}}`, `{}`, `true`, ``,
	} {
		if f, ok := formtext.FieldOf(json.RawMessage(form)); ok {
			t.Errorf("%s: %+v", form, f)
		}
	}
}

func TestDecisionsAndChoices(t *testing.T) {
	t.Parallel()
	f, _ := formtext.FieldOf(json.RawMessage(`{"type":"object","required":["approve"],"properties":{"approve":{"type":"boolean"},"note":{"type":"string"}}}`))
	if b, err := f.AnswerBool(true); err != nil || !f.Boolean() || string(b) != `{"approve":true}` {
		t.Errorf("%s, %v", b, err)
	}
	f, _ = formtext.FieldOf(json.RawMessage(`{"enum":["small",2,"large"]}`))
	if f.Boolean() || !slices.Equal(f.Choices(), []string{"small", "large"}) {
		t.Errorf("%+v", f)
	}
}
