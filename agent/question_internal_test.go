package agent

import (
	"encoding/json"
	"testing"

	"atelier/agent/contract"
	"atelier/media"
)

// FuzzForm asks with any schema and any answer: each call ends, and an accepted value is JSON.
func FuzzForm(f *testing.F) {
	for _, schema := range []string{
		approvalForm, contract.AnswerForm, `{"$ref":"#"}`, `{"type":"string","pattern":"(a+)+$"}`, `true`,
		`{"allOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"$ref":"#/$defs/a"}}}`,
	} {
		f.Add([]byte(schema), []byte(`{"approve":true}`))
		f.Add([]byte(schema), []byte(`"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"`))
	}
	f.Add([]byte(`{"minimum":0}`), []byte(`1e9999999`)) // the validator cannot compare it
	f.Fuzz(func(t *testing.T, schema, value []byte) {
		q, err := inquiry("What?", schema)
		if err == nil {
			err = q.fits(value)
		}
		switch {
		case err != nil && media.CodeOf(err) != media.CodeInvalid:
			t.Errorf("schema %q, value %q: %v", schema, value, err)
		case err == nil && !json.Valid(value):
			t.Errorf("accepted %q", value)
		}
	})
}
