package main

import (
	"encoding/json"
	"strings"
	"testing"

	"atelier/agent"
	"atelier/agent/evidence"
)

// TestJSONListsUnsupportedNumbers: run --json lists the numbers of the report that no source contains; without any, the
// list is empty.
func TestJSONListsUnsupportedNumbers(t *testing.T) {
	t.Parallel()
	for payload, want := range map[string]string{
		`{"report_html":"<p>There are 4711 orders.</p>"}`: `[{"sentence":"There are 4711 orders.","numbers":["4711"]}]`,
		`{"report_html":"<p>There are 815 orders.</p>"}`:  `[]`,
		`{"note":"4711"}`: `[]`,
	} {
		res := &agent.Result{Payload: json.RawMessage(payload), Evidence: &evidence.Set{}}
		res.Evidence.AddText(evidence.Task, "Of 815 orders")
		ans, err := (&app{}).export(t.Context(), res, "", false)
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(ans)
		if err != nil || !strings.Contains(string(b), `"unsupported":`+want) {
			t.Errorf("%s: %v %s", payload, err, b)
		}
	}
}
