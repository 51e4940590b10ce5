package agent_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"atelier/action/mediaset"
	"atelier/agent"
	"atelier/agent/definition"
	"atelier/chat"
	"atelier/media"
)

// viewStep returns a step that views each picture.
func viewStep(numbers ...int) string {
	var calls []string
	for _, n := range numbers {
		calls = append(calls, fmt.Sprintf(`{"name":"View Agent Media","params":{"RefId":%q}}`, refOf(n)))
	}
	return `{"actions":[` + strings.Join(calls, ",") + `]}`
}

// shownTo lists the refs of the pictures in a request, in message order.
func shownTo(r chat.Request) (refs []string) {
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			if p.Media != nil {
				refs = append(refs, string(p.Media.Ref))
			}
		}
	}
	return refs
}

func TestViewShowsPixelsForOneTurn(t *testing.T) {
	t.Parallel()
	w := build(t, setup{
		agents: map[string]string{"painter": painter}, actions: mediaset.Actions(),
		answers: map[string][]any{"painter": {
			paintStep(1, 2), viewStep(2, 1, 2), paintStep(3), `{"done":true,"message":"done"}`,
		}},
	})
	w.script.profile = chat.Profile{ID: "seer", Name: "Seer", SupportsVision: true}
	res, err := w.run(t, "paint and look")
	if err != nil || res.Status != agent.StatusSucceeded {
		t.Fatalf("%+v, %v", res, err)
	}
	asked := w.script.allRequests()
	want := [][]string{nil, nil, {refOf(2), refOf(1)}, nil}
	for i, r := range asked {
		if !slices.Equal(shownTo(r), want[i]) {
			t.Errorf("turn %d shows %v, want %v", i+1, shownTo(r), want[i])
		}
	}
	for _, p := range w.watcher.prompts {
		for _, m := range p.Messages {
			for _, part := range m.Parts {
				if part.Media != nil && part.Media.Digest.IsZero() {
					t.Errorf("a recorded prompt shows %v", part.Media)
				}
			}
		}
	}
	if !strings.Contains(lastMessage(asked[2]), "attached to these results") {
		t.Errorf("the message to the model is %s", lastMessage(asked[2]))
	}
}

func TestViewWithinTheBudget(t *testing.T) {
	t.Parallel()
	six := []int{1, 2, 3, 4, 5, 6}
	for name, c := range map[string]struct {
		profile chat.Profile
		shown   int
		say     string
	}{
		"usual":       {chat.Profile{ID: "s", Name: "Seer", SupportsVision: true}, 4, "room for 4 pictures"},
		"two":         {chat.Profile{ID: "s", Name: "Seer", SupportsVision: true, ImageLimits: chat.ImageLimits{MaxImages: 2}}, 2, "room for 2 pictures"},
		"blind":       {chat.Profile{ID: "b", Name: "Mole"}, 0, "Mole cannot see pictures"},
		"jpeg alone":  {chat.Profile{ID: "j", Name: "Seer", SupportsVision: true, ImageLimits: chat.ImageLimits{MediaTypes: []string{"image/jpeg"}}}, 4, "room for 4 pictures"},
		"tiny budget": {chat.Profile{ID: "t", Name: "Seer", SupportsVision: true, ImageLimits: chat.ImageLimits{MaxImageBytes: 10}}, 0, "limit is 10 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := build(t, setup{
				agents: map[string]string{"painter": painter}, actions: mediaset.Actions(),
				answers: map[string][]any{"painter": {paintStep(six...), viewStep(six...), `{"done":true,"message":"done"}`}},
			})
			w.script.profile = c.profile
			res, err := w.run(t, "look")
			if err != nil {
				t.Fatal(err)
			}
			last := w.script.allRequests()[2]
			if n := len(shownTo(last)); n != c.shown {
				t.Errorf("%d pictures shown, want %d", n, c.shown)
			}
			if said := lastMessage(last) + strings.Join(res.Warnings, " "); !strings.Contains(said, c.say) {
				t.Errorf("no message contains %q: %s", c.say, said)
			}
		})
	}
}

// TestPicturesLeaveAContextThatIsTooLong: shown pictures are removed before the retry.
func TestPicturesLeaveAContextThatIsTooLong(t *testing.T) {
	t.Parallel()
	w := build(t, setup{
		agents: map[string]string{"painter": painter}, actions: mediaset.Actions(),
		answers: map[string][]any{"painter": {
			paintStep(1), viewStep(1),
			media.Errorf(media.CodeContextLength, "too long"), `{"done":true,"message":"done"}`,
		}},
	})
	w.script.profile = chat.Profile{ID: "s", Name: "Seer", SupportsVision: true}
	if _, err := w.run(t, "look"); err != nil {
		t.Fatal(err)
	}
	asked := w.script.allRequests()
	if len(asked) != 4 || len(shownTo(asked[2])) != 1 || len(shownTo(asked[3])) != 0 {
		t.Errorf("%d calls; shown %v then %v", len(asked), shownTo(asked[2]), shownTo(asked[len(asked)-1]))
	}
}

// labels is a recorder that can change labels.
type labels struct {
	recorder

	mu      sync.Mutex // guards changed: acts end in parallel
	changed []string
}

func (l *labels) LabelMedia(_ context.Context, owner, id string, label, description *string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	change := []string{owner, id}
	for _, text := range []*string{label, description} {
		if text == nil {
			text = new("")
		}
		change = append(change, *text)
	}
	l.changed = append(l.changed, strings.Join(change, "|"))
	return nil
}

func TestDecisionsReachSetRecordsAndWatchers(t *testing.T) {
	t.Parallel()
	step := fmt.Sprintf(`{"payload":{"report_html":"<img src=\"${media:%s}\">"},"actions":[
		{"name":"Prune Agent Media","params":{"RefIds":[%q,%q]}},
		{"name":"Label Agent Media","params":{"RefId":%q,"Label":"A harbour"}},
		{"name":"Promote Agent Media","params":{"RefId":%q,"Description":"the best"}}]}`, refOf(1), refOf(1), refOf(2), refOf(3), refOf(3))
	w := build(t, setup{
		agents: map[string]string{"painter": painter}, actions: mediaset.Actions(),
		answers: map[string][]any{"painter": {paintStep(1, 2, 3), step, `{"actions":[{"name":"List Agent Media"}]}`, `{"done":true,"message":"done"}`}},
	})
	recorder := &labels{}
	runner, err := agent.NewRunner(agent.Config{
		Definitions: mustLoad(t, map[string]string{"painter": painter}), Actions: w.actions, Models: w.script, Codec: w.store,
		Recorder: recorder, Observer: w.watcher,
	})
	if err != nil {
		t.Fatal(err)
	}
	res, err := runner.Run(t.Context(), agent.Request{Agent: "painter", Message: "paint"})
	if err != nil {
		t.Fatal(err)
	}
	asked := w.script.allRequests()
	message := lastMessage(asked[2])
	if !strings.Contains(message, "Pruned 1 media items, skipped 1") || !strings.Contains(message, "it is embedded in the answer") {
		t.Errorf("the message to the model is %s", message)
	}
	if list := lastMessage(asked[3]); strings.Contains(list, refOf(2)) || !strings.Contains(list, refOf(1)) || !strings.Contains(list, "A harbour") {
		t.Errorf("the list is %s", list)
	}
	if got := refs(res.Outputs); !slices.Equal(got, []string{refOf(1), refOf(3)}) || res.Outputs[1].Label != "A harbour" || res.Outputs[1].Description != "the best" {
		t.Errorf("promoted %v", res.Outputs)
	}
	if got := refs(res.AlsoMade); !slices.Equal(got, []string{refOf(2)}) {
		t.Errorf("the pruned item is missing from the result: %v", got)
	}
	if !slices.Contains(w.watcher.types(), agent.EventMediaPruned) {
		t.Errorf("events %v", w.watcher.types())
	}
	if len(recorder.changed) != 2 || !strings.HasSuffix(recorder.changed[0], "|A harbour|") && !strings.HasSuffix(recorder.changed[1], "|A harbour|") {
		t.Errorf("records %q", recorder.changed)
	}
}

// mustLoad loads agent definitions.
func mustLoad(t *testing.T, agents map[string]string) *definition.Set {
	t.Helper()
	d, err := definition.Load(definitions(agents))
	if err != nil {
		t.Fatal(err)
	}
	return d
}
