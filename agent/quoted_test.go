package agent_test

import (
	"strings"
	"testing"

	"atelier/chat"
)

// TestUnknownPlaceholderInATaskIsText: placeholders that a person wrote and that name nothing are text. They pass
// unchanged into a sub-agent's task, and the answer may repeat them. One that a model invents is returned to it.
func TestUnknownPlaceholderInATaskIsText(t *testing.T) {
	t.Parallel()
	const task = "explain ${media:img-deadbeef} and ${media:foo}"
	w := build(t, setup{
		agents: map[string]string{"painter": "agents: [{slug: writer, payload_key: text}]\n", "writer": ""},
		answers: map[string][]any{
			"painter": {
				`{"agents":[{"name":"writer","task":"explain ${media:img-00000000}"}]}`,
				func(r chat.Request) string {
					if !strings.Contains(r.Messages[len(r.Messages)-1].Text(), "unknown media ref img-00000000") {
						return "what was invented was not sent back"
					}
					return `{"agents":[{"name":"writer","task":"` + task + `"}]}`
				},
				`{"message":"img-deadbeef stands in ${media:img-deadbeef}","done":true}`,
			},
			"writer": {
				func(r chat.Request) string {
					if !strings.Contains(r.Messages[len(r.Messages)-1].Text(), task) {
						return "the task is not as it was: " + r.Messages[len(r.Messages)-1].Text()
					}
					return `{"payload":{"said":"it"},"message":"done","done":true}`
				},
			},
		},
	})
	res, err := w.run(t, task)
	if err != nil {
		t.Fatal(err)
	}
	if res.Usage.ModelCalls != 4 || len(res.Warnings) > 0 || !strings.Contains(string(res.Payload), "said") {
		t.Errorf("%d calls, payload %s, warnings %q", res.Usage.ModelCalls, res.Payload, res.Warnings)
	}
}
