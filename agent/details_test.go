package agent_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"atelier/action/mediaset"
	"atelier/agent"
	"atelier/media"
)

// TestDetailsWithData: Go code gets the bytes of an item as a data: URL. No record holds them; a model does not know of
// the parameter and cannot use it.
func TestDetailsWithData(t *testing.T) {
	t.Parallel()
	content := strings.Repeat("iVBORw0K a small text that is no picture ", 40)
	var with, without map[string]any
	coder := func(ctx context.Context, c *agent.Context) (agent.Answer, error) {
		o, err := c.Store(ctx, strings.NewReader(content), media.Meta{MIMEType: "text/plain", Label: "Note"})
		if err != nil {
			return agent.Answer{}, err
		}
		without = c.Action(ctx, "Get Agent Media Details", map[string]any{"RefId": string(o.Ref), "IncludeData": false}).Outputs
		with = c.Action(ctx, "get_agent_media_details", map[string]any{"RefId": string(o.Ref), "include_data": true}).Outputs
		return agent.Answer{Message: "done"}, nil
	}
	w := build(t, setup{
		agents:  map[string]string{"painter": "agents: [coder]\n"},
		gos:     map[string]agent.GoAgent{"coder": coder},
		actions: mediaset.Actions(),
		answers: map[string][]any{"painter": {
			`{"agents":[{"name":"coder","task":"look"}]}`,
			`{"actions":[{"name":"Get Agent Media Details","params":{"RefId":"` + string(media.RefOf(media.ModalityDocument, media.DigestOf([]byte(content)))) + `","IncludeData":true}}]}`,
			`{"message":"Done.","done":true}`,
		}},
	})
	res, err := w.run(t, "x")
	if err != nil || res.Status != agent.StatusSucceeded {
		t.Fatal(res, err)
	}
	encoded := base64.StdEncoding.EncodeToString([]byte(content))
	if with["dataUri"] != "data:text/plain;base64,"+encoded || with["label"] != "Note" {
		t.Errorf("with data: %.200v", with)
	}
	if _, there := without["dataUri"]; there || without["refId"] != with["refId"] {
		t.Errorf("without: %v", without)
	}
	asked := w.script.allRequests()
	if message := lastMessage(asked[2]); !strings.Contains(message, "View Agent Media") || !strings.Contains(message, "IncludeData is for programs") {
		t.Errorf("the message to the model was %s", message)
	}
	if strings.Contains(asked[0].System, "IncludeData") || !strings.Contains(asked[0].System, "Get Agent Media Details") {
		t.Error("the model sees the parameter")
	}
	record, err := json.Marshal([]any{w.watcher.steps, w.watcher.prompts, w.watcher.runs, w.watcher.events})
	if err != nil || strings.Contains(string(record), encoded[:60]) {
		t.Errorf("a record has the bytes, %v", err)
	}
}
