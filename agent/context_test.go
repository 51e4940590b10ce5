package agent_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"atelier/action"
	"atelier/chat"
	"atelier/media"
)

// longAction is an action with a long output and a picture.
func longAction() action.Action {
	return action.Action{
		Name: "Wordy", Description: "Says much.",
		Params: []action.Param{
			{Name: "Text", Direction: action.Output, ValueType: action.Scalar},
			{Name: "Image", Direction: action.Output, ValueType: action.Binary, Format: action.FormatBytes},
		},
		Run: func(context.Context, *action.Call) (action.Result, error) {
			return action.Result{Outputs: map[string]any{"Text": strings.Repeat("many words ", 400), "Image": picture(6)}}, nil
		},
	}
}

// TestContextLengthStages: every stage that changes something is reported and followed by another try; a stage that
// changes nothing is skipped.
func TestContextLengthStages(t *testing.T) {
	t.Parallel()
	tooLong := media.Errorf(media.CodeContextLength, "too long")
	call := `{"actions":[{"name":"Wordy"}]}`
	long := `{"reasoning":"` + strings.Repeat("thinking ", 800) + `","actions":[{"name":"Wordy"}]}`
	for name, tt := range map[string]struct {
		answers []any
		code    media.Code
		did     []string
	}{
		"old results":    {[]any{call, call, tooLong, `{"done":true}`}, "", []string{"old results"}},
		"newest alone":   {[]any{call, tooLong, `{"done":true}`}, "", []string{"cut to their beginnings"}},
		"history":        {[]any{call, call, call, tooLong, tooLong, tooLong, `{"done":true}`}, "", []string{"old results", "beginnings", "earlier messages"}},
		"long messages":  {[]any{long, call, tooLong, tooLong, tooLong, tooLong, `{"done":true}`}, "", []string{"old results", "beginnings", "earlier messages", "long messages"}},
		"twice in a run": {[]any{call, call, tooLong, call, tooLong, `{"done":true}`}, "", []string{"turn 3 of painter", "turn 4 of painter"}},
		"never fits":     {[]any{call, call, tooLong}, media.CodeContextLength, []string{"old results", "beginnings", "earlier messages", "long messages"}},
		"nothing to cut": {[]any{tooLong}, media.CodeContextLength, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := build(t, setup{
				agents: map[string]string{"painter": "actions: [Wordy]\n"}, actions: []action.Action{longAction()},
				answers: map[string][]any{"painter": tt.answers},
			})
			res, err := w.run(t, "x")
			if media.CodeOf(err) != tt.code {
				t.Fatalf("got %v, want %q", err, tt.code)
			}
			if tt.code != "" && !strings.Contains(err.Error(), "larger context") {
				t.Errorf("the error does not say what to do: %v", err)
			}
			warnings := strings.Join(res.Warnings, "\n")
			for _, did := range tt.did {
				if !strings.Contains(warnings, did) {
					t.Errorf("warnings %q lack %q", res.Warnings, did)
				}
			}
			if len(res.Warnings) < len(tt.did) || tt.did == nil && len(res.Warnings) > 0 {
				t.Errorf("warnings %q", res.Warnings)
			}
			last := lastRequest(w)
			if tt.did != nil && !strings.Contains(allText(last), refOf(6)) {
				t.Errorf("the ref did not survive: %s", allText(last))
			}
		})
	}
}

// TestOldResultsGoFirst: the newest result remains whole while older ones can be shortened.
func TestOldResultsGoFirst(t *testing.T) {
	t.Parallel()
	call := `{"actions":[{"name":"Wordy"}]}`
	w := build(t, setup{
		agents: map[string]string{"painter": "actions: [Wordy]\n"}, actions: []action.Action{longAction()},
		answers: map[string][]any{"painter": {call, call, media.Errorf(media.CodeContextLength, "too long"), `{"done":true}`}},
	})
	if _, err := w.run(t, "x"); err != nil {
		t.Fatal(err)
	}
	asked := w.script.allRequests()
	if before, after := size(asked[2]), size(asked[3]); after >= before*2/3 {
		t.Errorf("the request shrank from %d to %d only", before, after)
	}
	if old := asked[3].Messages[2].Text(); strings.Contains(old, "many words") || !strings.Contains(old, refOf(6)) {
		t.Errorf("the oldest result is now %s", old)
	}
	if !strings.Contains(asked[3].Messages[4].Text(), "many words many words") {
		t.Error("the newest result was removed too")
	}
}

func lastRequest(w *testEnv) chat.Request {
	asked := w.script.allRequests()
	return asked[len(asked)-1]
}

func allText(r chat.Request) string {
	var b strings.Builder
	for _, m := range r.Messages {
		b.WriteString(m.Text())
	}
	return b.String()
}

func size(r chat.Request) int {
	n := 0
	for _, m := range r.Messages {
		n += len(m.Text())
	}
	return n
}

func TestResultsExpire(t *testing.T) {
	t.Parallel()
	for mode, keeps := range map[string]int{"Remove": 0, "Compact\n    compact_length: 300": 20, "None": 400} {
		yaml := fmt.Sprintf("actions:\n  - name: Wordy\n    result_expiration_turns: 1\n    result_expiration_mode: %s\n  - name: Paint\n", mode)
		w := build(t, setup{
			agents: map[string]string{"painter": yaml}, actions: []action.Action{longAction()},
			answers: map[string][]any{"painter": {`{"actions":[{"name":"Wordy"}]}`, paintStep(1), paintStep(2), `{"done":true}`}},
		})
		if _, err := w.run(t, "x"); err != nil {
			t.Fatal(err)
		}
		asked := w.script.allRequests()
		if !strings.Contains(asked[1].Messages[2].Text(), "many words many words") {
			t.Errorf("%s: the fresh result is short", mode)
		}
		last := asked[3].Messages[2].Text()
		if got := strings.Count(last, "many words"); got < keeps-5 || got > keeps {
			t.Errorf("%s: %d repetitions kept, want about %d", mode, got, keeps)
		}
		if !strings.Contains(last, refOf(6)) {
			t.Errorf("%s: the ref did not survive: %s", mode, last)
		}
	}
}
