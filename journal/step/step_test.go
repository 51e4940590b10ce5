package step_test

import (
	"reflect"
	"strings"
	"testing"

	"atelier/journal/step"
)

// texts holds the names as saved: they never change.
var texts = map[string]step.Name{
	"given":                                 {Kind: step.KindGiven},
	"guardrail":                             {Kind: step.KindGuardrail},
	"guardrail-approval":                    step.Name{Kind: step.KindGuardrail}.With(step.TailApproval),
	"images":                                {Kind: step.KindImages},
	"turn-3-summary-1-2":                    {Kind: step.KindSummary, Turn: 3, Made: 1, Index: 2},
	"turn-3-summary-1-2-media":              step.Name{Kind: step.KindSummary, Turn: 3, Made: 1, Index: 2}.With(step.TailMedia),
	"turn-0-budget":                         step.In(0, step.KindBudget),
	"turn-2-budget":                         step.In(2, step.KindBudget),
	"turn-2-model":                          step.In(2, step.KindModel),
	"turn-2-model-short-1-seeing-2-again-3": step.In(2, step.KindModel).Numbered(step.TailShort, 1).Numbered(step.TailSeeing, 2).Numbered(step.TailAgain, 3),
	"turn-2-action-10":                      step.Action(2, 10),
	"turn-2-action-1-approval":              step.Action(2, 1).With(step.TailApproval),
	"turn-2-action-1-ask-2":                 step.Action(2, 1).Numbered(step.TailAsk, 2),
	"turn-2-action-1-call-0a1b2c3d4e5f-1-approval": step.Action(2, 1).Called("0a1b2c3d4e5f", 1).With(step.TailApproval),
	"turn-1-agent-2-deep-research":                 {Kind: step.KindAgent, Turn: 1, Index: 2, Label: "deep-research"},
	"turn-2-ask":                                   step.In(2, step.KindQuestion),
	"turn-2-view-img-7k3m9q2x":                     step.Shown(2, step.KindView, "img-7k3m9q2x"),
	"turn-2-show-img-7k3m9q2x":                     step.Shown(2, step.KindShow, "img-7k3m9q2x"),
	"turn-2-answer-img-7k3m9q2x":                   step.Shown(2, step.KindAnswer, "img-7k3m9q2x"),
	"ask-2":                                        {Kind: step.KindCodeQuestion, Index: 2},
	"sleep-2":                                      {Kind: step.KindSleep, Index: 2},
	"generate-a-b":                                 {Kind: step.KindGenerate, Label: "a-b"},
	"resume-a-b":                                   {Kind: step.KindResume, Label: "a-b"},
	"retry-a-b-3":                                  {Kind: step.KindRetry, Label: "a-b", Index: 3},
	"found-a-b-3":                                  {Kind: step.KindFound, Label: "a-b", Index: 3},
	"call-1-attempt-2":                             {Kind: step.KindAttempt, Call: 1, Index: 2},
	"call-1-poll-2":                                {Kind: step.KindPoll, Call: 1, Index: 2},
	"":                                             {},
	"other":                                        {Label: "other"},
	"turn-02-model":                                {Label: "turn-02-model"},
	"turn-2-model-odd":                             {Label: "turn-2-model-odd"},
	"turn-2":                                       {Label: "turn-2"},
}

func TestNames(t *testing.T) {
	t.Parallel()
	for text, name := range texts {
		if got := name.String(); got != text {
			t.Errorf("%+v is %q, want %q", name, got, text)
		}
		if got := step.Parse(text); !reflect.DeepEqual(got, name) {
			t.Errorf("%q reads as %+v, want %+v", text, got, name)
		}
	}
}

// TestTailsAreNotShared: two names derived from one do not overwrite each other.
func TestTailsAreNotShared(t *testing.T) {
	t.Parallel()
	model := step.In(1, step.KindModel).Numbered(step.TailShort, 1)
	a, b := model.Numbered(step.TailAgain, 1), model.With(step.TailMedia)
	if a.String() != "turn-1-model-short-1-again-1" || b.String() != "turn-1-model-short-1-media" {
		t.Errorf("%s, %s", a, b)
	}
}

func TestPaths(t *testing.T) {
	t.Parallel()
	full := "turn-1-agent-2-a/turn-2-agent-1-b/turn-3-model"
	p := step.ParsePath(full)
	if p.String() != full || p.Own().Kind != step.KindModel {
		t.Errorf("%v: own %v", p, p.Own())
	}
	place := step.PlaceOf(full)
	if place != "turn-1-agent-2-a/turn-2-agent-1-b/" || place != p[:2].Inside() || place.Full(step.In(3, step.KindModel)) != full {
		t.Errorf("place %q", place)
	}
	if own, ok := place.Own(full); !ok || own.String() != "turn-3-model" {
		t.Errorf("own %q, %t", own, ok)
	}
	if own, ok := step.Root.Own(full); ok {
		t.Errorf("a step of a part is %q of the root", own)
	}
	if part, isPart, ok := step.Root.Top(full); !ok || !isPart || part.String() != "turn-1-agent-2-a" || step.Root.Part(part) != p[:1].Inside() {
		t.Errorf("part %q, %t, %t", part, isPart, ok)
	}
	if own, isPart, ok := place.Top(full); !ok || isPart || own.String() != "turn-3-model" {
		t.Errorf("a step of the place itself: %q, %t, %t", own, isPart, ok)
	}
	if _, _, ok := place.Top("turn-1-model"); ok {
		t.Error("a step outside of a place is in it")
	}
}

// FuzzPath: parsing and formatting are inverse for any text.
func FuzzPath(f *testing.F) {
	for text := range texts {
		f.Add(text)
		f.Add(text + "/" + text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p := step.ParsePath(text)
		if p.String() != text {
			t.Fatalf("%q became %q", text, p)
		}
		for _, n := range p {
			if again := step.Parse(n.String()); !reflect.DeepEqual(again, n) {
				t.Errorf("%+v became %+v", n, again)
			}
			if strings.Contains(n.String(), "/") {
				t.Errorf("%q has a slash", n)
			}
		}
	})
}
