package agent_test

import (
	"fmt"
	"strings"
	"testing"

	"atelier/agent"
	"atelier/chat"
	"atelier/media"
)

const reportSchema = painter + `payload_schema:
  type: object
  required: [title, year]
  properties:
    title: {type: string, maxLength: 20}
    year: {type: integer, minimum: 1900}
    since: {const: 2026-01-31}
    parts: {type: array, items: {$ref: "#/$defs/part"}}
  $defs:
    part: {type: object, required: [name], properties: {parts: {type: array, items: {$ref: "#/$defs/part"}}}}
`

func ending(payload string) string {
	return fmt.Sprintf(`{"reasoning":"x","message":"Here.","payload":%s,"done":true}`, payload)
}

func TestPayloadSchemaIsSent(t *testing.T) {
	t.Parallel()
	w := build(t, setup{agents: map[string]string{"painter": reportSchema}, answers: map[string][]any{"painter": {
		paintStep(1),
		ending(`{"title":"A title of far too many characters","year":"2020"}`),
		func(r chat.Request) string {
			last := lastMessage(r)
			for _, want := range []string{"payload_schema", "/title", "maxLength", "/year", `"code":"bad_response"`} {
				if !strings.Contains(last, want) {
					t.Errorf("the message to the model lacks %q: %s", want, last)
				}
			}
			return ending(`{"title":"Short","year":2020,"since":"2026-01-31","parts":[{"name":"a","parts":[{"name":"b"}]}]}`)
		},
	}}})
	res, err := w.run(t, "Report.")
	if err != nil || !strings.Contains(string(res.Payload), `"Short"`) || res.Turns != 3 {
		t.Errorf("got %+v, %v", res, err)
	}
	if system := w.script.allRequests()[0].System; !strings.Contains(system, `"required":["title","year"]`) || !strings.Contains(system, "## Payload") {
		t.Errorf("the prompt has no schema:\n%s", system)
	}
}

func TestPayloadThatNeverFitsFailsTheRun(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		yaml    string
		answers []any
		turns   int
	}{
		"told once":      {reportSchema, []any{paintStep(1), ending(`{"title":"A"}`), ending(`{"title":"A"}`)}, 3},
		"no payload":     {reportSchema, []any{paintStep(1), `{"message":"Done.","done":true}`, `{"message":"Done.","done":true}`}, 3},
		"no turn left":   {reportSchema + "turns: 2\n", []any{paintStep(1), ending(`{"title":"A"}`)}, 2},
		"refs told also": {reportSchema, []any{paintStep(1), ending(`{"title":"${media:img-00000000}"}`), ending(`{"title":"A"}`)}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := build(t, setup{agents: map[string]string{"painter": tt.yaml}, answers: map[string][]any{"painter": tt.answers}})
			res, err := w.run(t, "Report.")
			if media.CodeOf(err) != media.CodeBadResponse || !strings.Contains(err.Error(), "payload_schema") || res.Turns != tt.turns {
				t.Fatalf("got %+v, %v", res, err)
			}
			if len(res.AlsoMade) != 1 || res.Status != agent.StatusFailed {
				t.Errorf("what was made is not there: %+v", res)
			}
			if tt.turns == 3 && len(tt.answers) == 3 && !strings.Contains(lastMessage(w.script.allRequests()[2]), "payload_schema") {
				t.Errorf("the message to the model was %s", lastMessage(w.script.allRequests()[2]))
			}
		})
	}
}

func TestSchemaThatNamesItselfEnds(t *testing.T) {
	t.Parallel()
	w := build(t, setup{
		agents:  map[string]string{"painter": "payload_schema: {$ref: '#'}\n"},
		answers: map[string][]any{"painter": {ending(`{"a":1}`)}},
	})
	if _, err := w.run(t, "Report."); media.CodeOf(err) != media.CodeBadResponse {
		t.Errorf("got %v", err)
	}
}
