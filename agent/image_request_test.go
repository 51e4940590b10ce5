package agent_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier/action"
	"atelier/agent"
	"atelier/generate"
)

// substitutedAction requests a picture from an image model and is answered by a substitute; negative numbers fail, 0 is
// still in progress.
func substitutedAction() action.Action {
	a := paint()
	a.Name, a.Tags = "Draw", []string{action.TagPicture}
	run := a.Run
	a.Run = func(ctx context.Context, c *action.Call) (action.Result, error) {
		if c.Int("Number") == 0 {
			return action.Result{Message: "No image yet: operation op-1 is running"}, nil
		}
		res, err := run(ctx, c)
		res.Substituted = &action.Substitution{Asked: "Best", Applied: "Next", Reason: "no key"}
		return res, err
	}
	return a
}

func pictureStep(numbers ...int) string {
	return strings.ReplaceAll(paintStep(numbers...), `"Paint"`, `"Draw"`)
}

// TestARunWithoutThePictureItAskedForSaysSo: one picture of any picture action in the run tree is enough; a chart does
// not count.
func TestARunWithoutThePictureItAskedForSaysSo(t *testing.T) {
	t.Parallel()
	const warns = "the run asked for a picture and none was made: Draw: "
	delegate := `{"agents":[{"name":"helper","task":"draw"}]}`
	for name, c := range map[string]struct {
		boss, helper []any
		want         string
	}{
		"none asked":         {[]any{doneStep}, nil, ""},
		"made":               {[]any{pictureStep(1), doneStep}, nil, ""},
		"failed":             {[]any{pictureStep(-1), doneStep}, nil, warns + "this picture was refused"},
		"under way":          {[]any{pictureStep(0), doneStep}, nil, warns + "No image yet: operation op-1 is running"},
		"the last reason":    {[]any{pictureStep(-1), pictureStep(0), doneStep}, nil, warns + "No image yet: operation op-1 is running"},
		"tried again":        {[]any{pictureStep(-1), pictureStep(2), doneStep}, nil, ""},
		"one of two":         {[]any{pictureStep(-1, 2), doneStep}, nil, ""},
		"a chart instead":    {[]any{pictureStep(-1), paintStep(2), doneStep}, nil, warns + "this picture was refused"},
		"failed below":       {[]any{delegate, doneStep}, []any{pictureStep(-1), doneStep}, warns + "this picture was refused"},
		"made below":         {[]any{pictureStep(-1), delegate, doneStep}, []any{pictureStep(2), doneStep}, ""},
		"made above, later":  {[]any{delegate, pictureStep(2), doneStep}, []any{pictureStep(-1), doneStep}, ""},
		"an unusable prompt": {[]any{`{"actions":[{"name":"Draw","params":{}}]}`, doneStep}, nil, warns + "Draw: Number is required"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := build(t, setup{
				agents:  map[string]string{"boss": "actions: [Paint, Draw]\nagents: [helper]\n", "helper": "actions: [Draw]\n"},
				actions: []action.Action{substitutedAction()}, answers: map[string][]any{"boss": c.boss, "helper": c.helper},
			})
			res, err := w.runner.Run(t.Context(), agent.Request{Agent: "boss", Message: "draw"})
			if err != nil || res.Status != agent.StatusSucceeded {
				t.Fatalf("got %+v, %v", res, err)
			}
			var got []string
			for _, text := range res.Warnings {
				if strings.HasPrefix(text, warns) {
					got = append(got, text)
				}
			}
			if c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], c.want)) {
				t.Errorf("warnings %q, want %q", res.Warnings, c.want)
			}
			last := w.watcher.runs[len(w.watcher.runs)-1]
			event := slices.ContainsFunc(w.watcher.events, func(e agent.Event) bool {
				d, ok := e.Data.(agent.Warning)
				return ok && strings.HasPrefix(d.Message, warns)
			})
			if kept := slices.ContainsFunc(last.Warnings, func(s string) bool { return strings.HasPrefix(s, warns) }); kept != (c.want != "") || event != kept {
				t.Errorf("in the row: %t, as an event: %t", kept, event)
			}
		})
	}
}

// TestSubstitutedImageModelIsADisposition: the parent of the calling run has it once, after a resume too.
func TestSubstitutedImageModelIsADisposition(t *testing.T) {
	t.Parallel()
	w := build(t, setup{
		agents: map[string]string{"boss": "agents: [helper]\n", "helper": "actions: [Draw]\n"}, actions: []action.Action{substitutedAction()},
		answers: map[string][]any{
			"boss":   {`{"agents":[{"name":"helper","task":"draw"}]}`, asks("Which?"), doneStep},
			"helper": {pictureStep(1, 2), doneStep},
		},
	})
	_, s := runToPause(t, w, agent.Request{Agent: "boss", Message: "draw"})
	res := resumeToEnd(t, w, s, reply("blue"))
	want := []generate.Disposition{{Setting: agent.ImageModelSetting, Asked: "Best", Applied: "Next", Outcome: generate.OutcomeSubstituted, Reason: "no key"}}
	if d := cmp.Diff(want, res.Dispositions); d != "" {
		t.Error(d)
	}
}
