package agent_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"atelier/action"
	"atelier/agent"
	"atelier/chat"
	"atelier/media"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRunPaintsAndEmbeds(t *testing.T) {
	t.Parallel()
	w := build(t, setup{
		agents: map[string]string{"painter": painter},
		answers: map[string][]any{"painter": {
			paintStep(1, 2),
			`{"message":"Here.","payload":{"report_html":"<img src=\"${media:` + refOf(1) + `}\" alt=\"one\">"},"done":true}`,
		}},
	})
	res, err := w.run(t, "paint two pictures")
	if err != nil {
		t.Fatal(err)
	}
	if res.Status != agent.StatusSucceeded || res.Message != "Here." || res.Turns != 2 {
		t.Errorf("got %s %q after %d turns", res.Status, res.Message, res.Turns)
	}
	if got := cmp.Diff([]string{refOf(1)}, refs(res.Outputs)); got != "" {
		t.Errorf("an embedded picture is promoted: %s", got)
	}
	if got := cmp.Diff([]string{refOf(2)}, refs(res.AlsoMade)); got != "" {
		t.Errorf("the other one is also made: %s", got)
	}
	if want := (agent.Usage{ModelCalls: 2, InputTokens: 20, OutputTokens: 10}); res.Usage != want {
		t.Errorf("usage %+v, want %+v", res.Usage, want)
	}
	if res.Cost.EstimatedUSD == nil || *res.Cost.EstimatedUSD != "0.002" || !res.Cost.Complete {
		t.Errorf("cost %+v, want exactly 0.002", res.Cost)
	}
	if !strings.Contains(string(res.Payload), "${media:"+refOf(1)+"}") {
		t.Errorf("the payload keeps its placeholders: %s", res.Payload)
	}
	if w.recorder.count() != 2 {
		t.Errorf("%d items recorded, want 2", w.recorder.count())
	}
}

func TestRunTellsTheModelAndTheObserver(t *testing.T) {
	t.Parallel()
	w := build(t, setup{
		agents:  map[string]string{"painter": painter},
		answers: map[string][]any{"painter": {paintStep(1), `{"message":"Done.","done":true}`}},
		sources: map[string]agent.Source{"web": {Reason: "set a key"}},
	})
	if _, err := w.run(t, "paint"); err != nil {
		t.Fatal(err)
	}
	asked := w.script.allRequests()
	for _, want := range []string{"You are painter.", "\n\n## Callable\n```json\n{\"agent\":\"painter\"", `"name":"Paint"`, `"reason":"set a key"`, "## How to answer"} {
		if !strings.Contains(asked[0].System, want) {
			t.Errorf("the system prompt lacks %q", want)
		}
	}
	if asked[0].Messages[0].Text() != "paint" {
		t.Errorf("first message %q", asked[0].Messages[0].Text())
	}
	message := lastMessage(asked[1])
	if !strings.HasPrefix(message, "```json\n{\"results\":{\"actions\":[{\"name\":\"Paint\",\"success\":true") || !strings.Contains(message, refOf(1)) {
		t.Errorf("the message to the model is %s", message)
	}
	want := []agent.EventType{
		agent.EventRunStarted, agent.EventTurnStarted, agent.EventTurnFinished, agent.EventActionStarted, agent.EventMediaStored,
		agent.EventActionFinished, agent.EventTurnStarted, agent.EventTurnFinished, agent.EventMessageDelta, agent.EventRunSucceeded,
	}
	if d := cmp.Diff(want, w.watcher.types()); d != "" {
		t.Error(d)
	}
	if n := len(w.watcher.prompts); n != 4 {
		t.Errorf("%d prompt records, want each of 2 twice", n)
	}
	last := w.watcher.runs[len(w.watcher.runs)-1]
	if last.Status != agent.StatusSucceeded || last.DefinitionHash == "" || !strings.Contains(last.Definition, "slug: painter") {
		t.Errorf("run record %+v", last)
	}
}

func TestBadModels(t *testing.T) {
	t.Parallel()
	done := `{"message":"ok","done":true}`
	tests := map[string]struct {
		answers []any
		code    media.Code // "" means that the run succeeds
		reply   string     // what the model reads after its first answer
		calls   int
	}{
		"prose":                 {[]any{"I think we should paint.", done}, "", "holds no JSON object", 2},
		"prose around":          {[]any{"Sure! Here {as asked}:\n" + done + "\nHope it helps."}, "", "", 1},
		"code fence":            {[]any{"```json\n" + done + "\n```"}, "", "", 1},
		"trailing comma":        {[]any{`{"message":"ok","done":true,}`}, "", "", 1},
		"raw newline":           {[]any{"{\"message\":\"a\nb\",\"done\":true}"}, "", "", 1},
		"broken JSON":           {[]any{`{"message":"ok","payload":{"done":true}`, done}, "", "broken", 2},
		"empty":                 {[]any{"  ", done}, "", "answer is empty", 2},
		"wrong type":            {[]any{`{"actions":"Paint","done":false}`, done}, "", "does not fit its schema", 2},
		"asks for nothing":      {[]any{`{"reasoning":"hm"}`, done}, "", "asks for nothing", 2},
		"other object":          {[]any{`{"answer":42}`, done}, "", "not a step", 2},
		"always prose":          {[]any{"No."}, media.CodeBadResponse, "holds no JSON object", 4},
		"unknown action":        {[]any{`{"actions":[{"name":"Fly"}]}`, done}, "", `this agent has Paint`, 2},
		"unknown param":         {[]any{`{"actions":[{"name":"Paint","params":{"Colour":"red"}}]}`, done}, "", "Colour", 2},
		"unknown agent":         {[]any{`{"agents":[{"name":"bob","task":"x"}]}`, done}, "", "unknown agent", 2},
		"never ends":            {[]any{paintStep(1)}, media.CodeOverBudget, "Painted", 5},
		"bad form":              {[]any{`{"ask":{"question":"Which?","schema":{"type":"colour"}}}`, done}, "", "not a valid JSON Schema", 2},
		"form too large":        {[]any{`{"ask":{"question":"Which?","schema":{"title":"` + strings.Repeat("long ", 4000) + `"}}}`, done}, "", "at most 16384", 2},
		"form from elsewhere":   {[]any{`{"ask":{"question":"Which?","schema":{"$ref":"http://localhost/x"}}}`, done}, "", "not a valid JSON Schema", 2},
		"blank question":        {[]any{`{"ask":{"question":" "}}`, done}, "", "question is empty", 2},
		"provider fails":        {[]any{media.Errorf(media.CodeUnauthorized, "no")}, media.CodeUnauthorized, "", 1},
		"provider talks rubish": {[]any{media.Errorf(media.CodeBadResponse, "HTML")}, media.CodeBadResponse, "", 1},
		"unknown ref repaired":  {[]any{`{"message":"${media:img-00000000}","done":true}`, done}, "", "unknown media ref", 2},
		"unknown promote":       {[]any{`{"promote":["img-00000000"],"done":true}`, done}, "", "unknown media ref", 2},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := build(t, setup{
				agents:  map[string]string{"painter": painter + "turns: 5\n"},
				answers: map[string][]any{"painter": tt.answers},
			})
			res, err := w.run(t, "paint")
			if media.CodeOf(err) != tt.code {
				t.Fatalf("error %v, want code %q", err, tt.code)
			}
			if (err == nil) != (res.Status == agent.StatusSucceeded) || (err == nil) != (res.Error == nil) {
				t.Errorf("status %s with error %v", res.Status, err)
			}
			asked := w.script.allRequests()
			if len(asked) != tt.calls {
				t.Fatalf("%d model calls, want %d", len(asked), tt.calls)
			}
			if tt.reply != "" && !strings.Contains(lastMessage(asked[1]), tt.reply) {
				t.Errorf("the message to the model is %s, want %q in it", lastMessage(asked[1]), tt.reply)
			}
		})
	}
}

// TestModelIsReportedOnce: an error of a model call names the model once, whether or not the call itself names it.
func TestModelIsReportedOnce(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"no":                       "ask Script: no",
		"ask Script (test): no":    "ask Script (test): no",
		"ask Somebody (test): no":  "ask Script: ask Somebody (test): no",
		"the network is not there": "ask Script: the network is not there",
	} {
		for _, code := range []media.Code{media.CodeUnauthorized, media.CodeBadResponse} {
			w := build(t, setup{agents: map[string]string{"painter": painter}, answers: map[string][]any{"painter": {media.Errorf(code, "%s", said)}}})
			_, err := w.run(t, "paint")
			if err == nil || media.CodeOf(err) != code || !strings.HasSuffix(err.Error(), want) || strings.Count(err.Error(), "ask Script") != 1 {
				t.Errorf("%s: %v", said, err)
			}
		}
	}
}

func TestNothingMadeIsLost(t *testing.T) {
	t.Parallel()
	tests := map[string][]any{
		"turn limit":         {paintStep(1, 2)},
		"unusable answers":   {paintStep(1, 2), "prose"},
		"provider fails":     {paintStep(1, 2), media.Errorf(media.CodeUnavailable, "down")},
		"question":           {paintStep(1, 2), `{"ask":{"question":"?"}}`},
		"second of 3 failed": {paintStep(1, -1, 2), `{"done":true}`},
	}
	for name, answers := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := build(t, setup{agents: map[string]string{"painter": painter + "turns: 6\n"}, answers: map[string][]any{"painter": answers}})
			res, _ := w.run(t, "paint")
			if got := len(res.Outputs) + len(res.AlsoMade); got != 2 || w.recorder.count() < 2 {
				t.Errorf("%d items in the result, %d recorded, want 2", got, w.recorder.count())
			}
		})
	}
}

func TestCancelInAnActionKeepsMedia(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	slow := action.Action{
		Name: "Slow", Description: "Waits.",
		Params: []action.Param{{Name: "Image", Direction: action.Output, ValueType: action.Binary, Format: action.FormatBytes}},
		Run: func(ctx context.Context, _ *action.Call) (action.Result, error) {
			cancel()
			<-ctx.Done()
			return action.Result{Outputs: map[string]any{"Image": picture(9)}}, ctx.Err()
		},
	}
	w := build(t, setup{
		agents:  map[string]string{"painter": "actions: [Paint, Slow]\n"},
		answers: map[string][]any{"painter": {paintStep(1), `{"actions":[{"name":"Slow"}]}`}},
		actions: []action.Action{slow},
	})
	res, err := w.runner.Run(ctx, agent.Request{Agent: "Painter", Message: "paint"})
	if media.CodeOf(err) != media.CodeCancelled || res.Status != agent.StatusCancelled {
		t.Fatalf("got %v, %s", err, res.Status)
	}
	if d := cmp.Diff([]string{refOf(1), refOf(9)}, refs(res.AlsoMade)); d != "" {
		t.Error(d)
	}
	if last := w.watcher.runs[len(w.watcher.runs)-1]; last.Status != agent.StatusCancelled {
		t.Errorf("saved as %s", last.Status)
	}
	if types := w.watcher.types(); types[len(types)-1] != agent.EventRunCancelled {
		t.Errorf("events end with %s", types[len(types)-1])
	}
}

func TestInventedRefIsRepairedOnceThenShownAsMissing(t *testing.T) {
	t.Parallel()
	w := build(t, setup{
		agents: map[string]string{"painter": painter},
		answers: map[string][]any{"painter": {
			paintStep(1),
			`{"payload":{"report_html":"<img src=\"${media:image_1}\">"},"message":"m","done":true}`,
		}},
	})
	res, err := w.run(t, "paint")
	if err != nil {
		t.Fatal(err)
	}
	asked := w.script.allRequests()
	if len(asked) != 3 || !strings.Contains(lastMessage(asked[2]), "image_1") || !strings.Contains(lastMessage(asked[2]), refOf(1)) {
		t.Errorf("after %d calls the message to the model was %s", len(asked), lastMessage(asked[len(asked)-1]))
	}
	if len(res.Warnings) != 1 || !strings.Contains(res.Warnings[0], "image_1") {
		t.Errorf("warnings %q", res.Warnings)
	}
}

func TestRefsInOtherForms(t *testing.T) {
	t.Parallel()
	ref := refOf(1)
	html := `<img src='` + ref + `'><img src="/media/` + ref + `.png"><a href="https://h.example/media/` + ref + `">x</a> ${media:` + strings.ToUpper(ref) + `} $${media:` + ref + `} <img src=" /media/${media:` + ref + `} ">`
	step, err := json.Marshal(map[string]any{"done": true, "payload": map[string]any{"html": html, "markdown": "![a](" + ref + ")"}})
	if err != nil {
		t.Fatal(err)
	}
	w := build(t, setup{agents: map[string]string{"painter": painter}, answers: map[string][]any{"painter": {paintStep(1), string(step)}}})
	res, err := w.run(t, "paint")
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]string
	if err := json.Unmarshal(res.Payload, &got); err != nil {
		t.Fatal(err)
	}
	p := "${media:" + ref + "}"
	want := map[string]string{
		"html":     `<img src='` + p + `'><img src="` + p + `"><a href="` + p + `">x</a> ` + p + ` $` + p + ` <img src="` + p + `">`,
		"markdown": "![a](" + p + ")",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestPersistIsPromote(t *testing.T) {
	t.Parallel()
	w := build(t, setup{agents: map[string]string{"painter": painter}, answers: map[string][]any{"painter": {
		paintStep(1, 2), `{"persist":[{"refId":"` + refOf(2) + `","label":"Chosen"}],"done":true}`,
	}}})
	res, err := w.run(t, "paint")
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Outputs) != 1 || res.Outputs[0].Label != "Chosen" || len(res.AlsoMade) != 1 {
		t.Errorf("outputs %v, also made %v", res.Outputs, res.AlsoMade)
	}
}

func TestDoneWithActionsWaitsForTheirResults(t *testing.T) {
	t.Parallel()
	w := build(t, setup{agents: map[string]string{"painter": painter}, answers: map[string][]any{"painter": {
		`{"actions":[{"name":"Paint","params":{"Number":1}}],"done":true,"message":"early"}`, `{"done":true,"message":"late"}`,
	}}})
	res, err := w.run(t, "paint")
	if err != nil || res.Message != "late" || !strings.Contains(lastMessage(w.script.allRequests()[1]), "done was not taken") {
		t.Errorf("got %v, %q", err, res.Message)
	}
}

func TestPayloadPatchIsMerged(t *testing.T) {
	t.Parallel()
	w := build(t, setup{agents: map[string]string{"painter": painter}, answers: map[string][]any{"painter": {
		`{"payload":{"a":{"x":1,"y":2},"b":[1]},"actions":[{"name":"Paint","params":{"Number":1}}]}`,
		`{"payloadPatch":{"a":{"x":null,"z":3},"b":null,"c":12345678901234567890},"done":true}`,
	}}})
	res, err := w.run(t, "paint")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(res.Payload), `{"a":{"y":2,"z":3},"c":12345678901234567890}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestMediaDataInText(t *testing.T) {
	t.Parallel()
	canary := picture(77)
	b64 := base64.StdEncoding.EncodeToString(canary)
	uri := "data:image/png;base64," + b64
	w := build(t, setup{agents: map[string]string{"painter": painter}, answers: map[string][]any{"painter": {
		func(r chat.Request) string {
			return `{"message":"see ` + uri + `","payload":{"report_html":"<img src=\"` + uri + `\">"},"done":true}`
		},
	}}})
	res, err := w.run(t, "what is this: "+uri)
	if err != nil {
		t.Fatal(err)
	}
	all, err := json.Marshal([]any{res, w.script.allRequests(), w.watcher.events, w.watcher.prompts, w.watcher.runs, w.watcher.steps})
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+48 <= len(b64); i++ {
		if strings.Contains(string(all), b64[i:i+48]) {
			t.Fatalf("base64 of the picture is in a sink near %s", b64[i:i+10])
		}
	}
	if len(res.Outputs) != 1 || !strings.Contains(string(res.Payload), refOf(77)) {
		t.Errorf("the picture is stored and embedded: %v, %s", res.Outputs, res.Payload)
	}
	// The event of media in the task comes after the run's start: no event precedes it.
	if diff := cmp.Diff([]agent.EventType{agent.EventRunStarted, agent.EventMediaStored}, w.watcher.types()[:2]); diff != "" {
		t.Errorf("first events (-want +got):\n%s", diff)
	}
}

func TestObserverThatFailsStopsNothing(t *testing.T) {
	t.Parallel()
	w := build(t, setup{agents: map[string]string{"painter": painter}, answers: map[string][]any{"painter": {paintStep(1), `{"done":true}`}}})
	w.watcher.err = media.Errorf(media.CodeDiskFull, "disk full")
	res, err := w.run(t, "paint")
	if err != nil || len(res.Warnings) == 0 || len(res.AlsoMade) != 1 {
		t.Errorf("got %v, %v, %v", err, res.Warnings, res.AlsoMade)
	}
}

func TestModelsOwnPictures(t *testing.T) {
	t.Parallel()
	w := build(t, setup{agents: map[string]string{"painter": painter}, answers: map[string][]any{"painter": {nil}}})
	blob, err := w.store.Store(t.Context(), strings.NewReader(string(picture(5))), "")
	if err != nil {
		t.Fatal(err)
	}
	w.script.answers["painter"] = []any{chat.Response{Text: `{"done":true}`, Media: []media.Output{media.NewOutput(blob, media.Meta{})}}}
	res, err := w.run(t, "paint")
	if err != nil || len(res.AlsoMade) != 1 || w.recorder.count() != 1 {
		t.Errorf("got %v, %v, %d recorded", err, res.AlsoMade, w.recorder.count())
	}
	if res.Cost.Complete {
		t.Error("a call of unknown price makes the cost incomplete")
	}
}

func TestBadRequests(t *testing.T) {
	t.Parallel()
	w := build(t, setup{agents: map[string]string{"painter": painter, "reader": "requires: files\nactions: [Read Nothing]\n"}})
	for _, tt := range []struct {
		req  agent.Request
		code media.Code
		text string
	}{
		{agent.Request{Agent: "painter", Message: " "}, media.CodeInvalid, "message is empty"},
		{agent.Request{Agent: "nobody", Message: "x"}, media.CodeNotFound, "painter, reader"},
		{agent.Request{Agent: "reader", Message: "x"}, media.CodeInvalid, "needs files"},
	} {
		_, err := w.runner.Run(t.Context(), tt.req)
		if media.CodeOf(err) != tt.code || media.Retryable(err) || !strings.Contains(err.Error(), tt.text) {
			t.Errorf("%+v: got %v", tt.req, err)
		}
	}
}
