package agent_test

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier/action"
	"atelier/action/mediaset"
	"atelier/agent"
	"atelier/agent/evidence"
	"atelier/agent/report"
	"atelier/agent/resolve"
	"atelier/chat"
	"atelier/journal"
	"atelier/media"
)

// fixedAction returns an action with fixed outputs.
func fixedAction(name, outputs string, tags ...string) action.Action {
	return action.Action{
		Name: name, Description: "Tests.", Tags: tags,
		Run: func(context.Context, *action.Call) (action.Result, error) {
			var out map[string]any
			err := json.Unmarshal([]byte(outputs), &out)
			return action.Result{Outputs: out}, err
		},
	}
}

// evidenceEnv is a boss with a helper that has sources, one of them through its own sub-agent.
func evidenceEnv(t *testing.T, document media.Output) *testEnv {
	t.Helper()
	view := `{"name":"View Agent Media","params":{"RefId":"` + string(document.Ref) + `"}}`
	return build(t, setup{
		agents: map[string]string{"boss": "actions: [Count]\nagents: [helper]\n", "helper": "actions: [Query Tables]\nagents: [reader]\n", "reader": "actions: [Read File]\n"},
		actions: append(mediaset.Actions(),
			fixedAction("Query Tables", `{"statement":"SELECT sum(n) FROM t","columns":["n"],"rows":[[4711]],"rowCount":1,"tables":[{"name":"t","path":"t.csv"}]}`, action.TagSource),
			fixedAction("Read File", `{"path":"notes.md","text":"There are 345 of them."}`, action.TagSource),
			fixedAction("Count", `{"n":88888}`),
		),
		answers: map[string][]any{
			"boss": {
				`{"agents":[{"name":"helper","task":"look for 77,777","media":["` + string(document.Ref) + `"]}],"actions":[{"name":"Count"}]}`,
				`{"ask":{"question":"Which limit?"}}`,
				`{"message":"done","done":true,"payload":{"report_html":"<p>4,711 by query, 345 by file, 150 € by task, 160 € by input, 170 € by answer, 180 € by document, 190 € by note.</p>` +
					`<p>False are 88,888.</p><p>And 77,777.</p><p>And 66,666.</p>"}}`,
			},
			"helper": {`{"actions":[{"name":"Query Tables"},` + view + `],"agents":[{"name":"reader","task":"read"}]}`, `{"message":"66,666","done":true}`},
			"reader": {`{"actions":[{"name":"Read File"}]}`, `{"message":"read","done":true}`},
		},
	})
}

var unsupported = regexp.MustCompile(`<mark class="atelier-unsupported"[^>]*>([^<]*)<`)

// marks renders a run's report and lists the marked numbers.
func marks(t *testing.T, res *agent.Result) (numbers []string) {
	t.Helper()
	var b strings.Builder
	if err := report.Write(t.Context(), &b, report.FromResult(res), resolve.Options{Mode: resolve.ModeURL, Find: res.Find}); err != nil {
		t.Fatal(err)
	}
	for _, m := range unsupported.FindAllStringSubmatch(b.String(), -1) {
		numbers = append(numbers, m[1])
	}
	return numbers
}

// TestNumbersAreTracedThroughTheTree: a report's numbers are compared with what the sources of every sub-agent and the
// person said, and with nothing that a model or another action said. The result is the same after a pause and a replay.
func TestNumbersAreTracedThroughTheTree(t *testing.T) {
	t.Parallel()
	text := "The plant cost 180 €."
	store := func(w *testEnv) media.Output {
		b, err := w.store.Store(t.Context(), strings.NewReader(text), "text/plain")
		if err != nil {
			t.Fatal(err)
		}
		return media.NewOutput(b, media.Meta{Label: "Offer"})
	}
	document := store(build(t, setup{}))
	w := evidenceEnv(t, document)
	store(w)
	paused, err := w.runner.Run(t.Context(), agent.Request{
		Agent: "boss", Message: "Orders over 150 €?", Input: map[string]any{"limit": 160}, Granted: []media.Output{document}, RunID: fixedRun,
	})
	if err != nil || paused.Status != agent.StatusPaused || paused.Evidence != nil {
		t.Fatalf("%v, %+v", err, paused)
	}
	b, err := json.Marshal(paused.State)
	if err != nil {
		t.Fatal(err)
	}
	var state agent.State
	if err := json.Unmarshal(b, &state); err != nil {
		t.Fatal(err)
	}
	state, err = w.runner.Answered(t.Context(), state, agent.Reply{Value: json.RawMessage(`{"answer":"170 €"}`), Note: "or 190"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"88,888", "77,777", "66,666"}
	j := journal.NewTranscript(journal.Memory{}, state.Known())
	req := state.Request
	req.State, req.Journal = &state, j
	res, err := w.runner.Run(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, marks(t, res)); d != "" {
		t.Error(d)
	}

	again := evidenceEnv(t, document)
	again.script.answers = map[string][]any{} // every new request fails
	req.Journal = journal.NewTranscript(journal.Memory{}, j.Steps())
	replayed, err := again.runner.Run(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, marks(t, replayed)); d != "" {
		t.Errorf("after a replay: %s", d)
	}
	if d := cmp.Diff(string(res.Payload), string(replayed.Payload)); d != "" || strings.Contains(string(res.Payload), "atelier-") {
		t.Errorf("the payload is not what the model wrote: %s", d)
	}
}

// TestGoAgentsNumbers: without a source, task, input and conversation are the evidence.
func TestGoAgentsNumbers(t *testing.T) {
	t.Parallel()
	w := build(t, setup{gos: map[string]agent.GoAgent{"market": func(context.Context, *agent.Context) (agent.Answer, error) {
		return agent.Answer{Message: "ok", Payload: map[string]any{"report_markdown": "Sales were 150 and 160 and 170.\n\nNot 180."}}, nil
	}}})
	res, err := w.runner.Run(t.Context(), agent.Request{
		Agent: "market", Message: "Sold: 150", Input: map[string]any{"n": []any{160.0}},
		History: []chat.Message{chat.Text(chat.RoleUser, "also 170"), chat.Text(chat.RoleAssistant, "or 180")},
	})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"180"}, marks(t, res)); d != "" {
		t.Error(d)
	}
	names := []string{}
	for _, text := range res.Evidence.Texts {
		names = append(names, text.Name)
	}
	if d := cmp.Diff([]string{evidence.Task, evidence.Input, evidence.Conversation}, names); d != "" {
		t.Error(d)
	}
}

// TestDocumentsOfModelsAreNoEvidence: the text of a document that a sub-agent wrote counts as a model's words.
func TestDocumentsOfModelsAreNoEvidence(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("It costs 55,555 €. ", 700)
	ref := string(media.RefOf(media.ModalityDocument, media.DigestOf([]byte(long))))
	w := build(t, setup{
		agents:  map[string]string{"boss": "agents: [{slug: helper, payload_key: found}]\n", "helper": "turns: 3\n"},
		actions: mediaset.Actions(),
		answers: map[string][]any{
			"boss": {
				`{"agents":[{"name":"helper","task":"look"}]}`, `{"actions":[{"name":"View Agent Media","params":{"RefId":"` + ref + `"}}]}`,
				func(r chat.Request) string {
					if !strings.Contains(lastMessage(r), "55,555") {
						return "the document was not shown"
					}
					return `{"message":"x","payload":{"report_html":"<p>It costs 55,555 €.</p>"},"done":true}`
				},
			},
			"helper": {`{"payload":{"report_markdown":"` + long + `"},"done":true}`},
		},
	})
	res, err := w.runner.Run(t.Context(), agent.Request{Agent: "boss", Message: "look"})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"55,555"}, marks(t, res)); d != "" {
		t.Error(d)
	}
}
