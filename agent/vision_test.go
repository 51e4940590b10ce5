package agent_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"atelier/action/mediaset"
	"atelier/agent"
	"atelier/agent/definition"
	"atelier/chat"
	"atelier/media"
)

// TestVisionContext: pictures of allowed actions are shown for the configured turns, the newest first.
func TestVisionContext(t *testing.T) {
	t.Parallel()
	steps := []any{paintStep(1, 2, 3), listStep, listStep, doneStep}
	for name, c := range map[string]struct {
		yaml string
		want [][]string
	}{
		"off":          {"vision_context: {allowed_sources: [Paint]}\n", [][]string{nil, nil, nil, nil}},
		"no source":    {"vision_context: {enabled: true}\n", [][]string{nil, nil, nil, nil}},
		"other source": {"vision_context: {enabled: true, allowed_sources: [List Agent Media]}\n", [][]string{nil, nil, nil, nil}},
		"on":           {"vision_context: {enabled: true, allowed_sources: [paint]}\n", [][]string{nil, {refOf(3), refOf(2), refOf(1)}, nil, nil}},
		"two":          {"VisionContext: {Enabled: true, MaxImages: 2, AllowedSources: [Paint]}\n", [][]string{nil, {refOf(3), refOf(2)}, nil, nil}},
		"two turns":    {"vision_context: {enabled: true, max_images: 1, turns_to_live: 2, allowed_sources: [Paint]}\n", [][]string{nil, {refOf(3)}, {refOf(3)}, nil}},
		"no PNG":       {"vision_context: {enabled: true, allow_mime_types: [image/webp], allowed_sources: [Paint]}\n", [][]string{nil, nil, nil, nil}},
		"few bytes":    {fmt.Sprintf("vision_context: {enabled: true, max_total_bytes: %d, allowed_sources: [Paint]}\n", len(picture(3))), [][]string{nil, {refOf(3)}, nil, nil}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := build(t, setup{agents: map[string]string{"painter": painter + c.yaml}, actions: mediaset.Actions(), answers: map[string][]any{"painter": slices.Clone(steps)}})
			w.script.profile = visionProfile(chat.ImageLimits{})
			if _, err := w.run(t, "paint"); err != nil {
				t.Fatal(err)
			}
			for turn, r := range w.script.allRequests() {
				if got := shownTo(r); !slices.Equal(got, c.want[turn]) {
					t.Errorf("turn %d shows %v, want %v", turn+1, got, c.want[turn])
				}
			}
		})
	}
}

// TestNewPicturesTakeTheRoomOfOldOnes: max_images counts over all turns.
func TestNewPicturesTakeTheRoomOfOldOnes(t *testing.T) {
	t.Parallel()
	w := build(t, setup{
		agents:  map[string]string{"painter": painter + "vision_context: {enabled: true, max_images: 2, turns_to_live: 5, allowed_sources: [Paint]}\n"},
		answers: map[string][]any{"painter": {paintStep(1), paintStep(2), paintStep(3), doneStep}},
	})
	w.script.profile = visionProfile(chat.ImageLimits{})
	if _, err := w.run(t, "paint"); err != nil {
		t.Fatal(err)
	}
	for turn, want := range [][]string{nil, {refOf(1)}, {refOf(1), refOf(2)}, {refOf(2), refOf(3)}} {
		if got := shownTo(w.script.allRequests()[turn]); !slices.Equal(got, want) {
			t.Errorf("turn %d shows %v, want %v", turn+1, got, want)
		}
	}
	last := w.watcher.runs[len(w.watcher.runs)-1]
	if got := last.VisionContext; len(got) != 3 || got[0].Ref != media.Ref(refOf(1)) || got[1].MIMEType != "image/png" {
		t.Errorf("saved %+v", got)
	}
}

// TestPolicyGoesDownwards: the narrower of two policies applies to a sub-agent.
func TestPolicyGoesDownwards(t *testing.T) {
	t.Parallel()
	const wide = "vision_context: {enabled: true, max_images: 4, allowed_sources: [Paint]}\n"
	for name, c := range map[string]struct {
		parent, child string
		asked         *definition.VisionContextPolicy
		want          []string
	}{
		"both":         {wide, wide, nil, []string{refOf(2), refOf(1)}},
		"parent off":   {"", wide, nil, nil},
		"child off":    {wide, "", nil, nil},
		"parent less":  {strings.Replace(wide, "4", "1", 1), wide, nil, []string{refOf(2)}},
		"child less":   {wide, strings.Replace(wide, "4", "1", 1), nil, []string{refOf(2)}},
		"run says yes": {"", wide, &definition.VisionContextPolicy{Enabled: true, AllowedSources: []string{"Paint"}}, []string{refOf(2), refOf(1)}},
		"run says no":  {wide, wide, &definition.VisionContextPolicy{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := build(t, setup{
				agents:  map[string]string{"boss": "agents: [painter]\n" + c.parent, "painter": painter + c.child},
				answers: map[string][]any{"boss": {`{"agents":[{"name":"painter","task":"paint"}]}`, doneStep}, "painter": {paintStep(1, 2), doneStep}},
			})
			w.script.profile = visionProfile(chat.ImageLimits{})
			if _, err := w.runner.Run(t.Context(), agent.Request{Agent: "boss", Message: "go", Vision: c.asked}); err != nil {
				t.Fatal(err)
			}
			if got := shownTo(w.script.allRequests()[2]); !slices.Equal(got, c.want) {
				t.Errorf("the sub-agent sees %v, want %v", got, c.want)
			}
		})
	}
}

// TestGrantedPixels: a sub-agent sees granted pictures only if its definition says so.
func TestGrantedPixels(t *testing.T) {
	t.Parallel()
	for yaml, want := range map[string][]string{"": nil, "vision: none\n": nil, "vision: granted\n": {refOf(1)}} {
		w := build(t, setup{
			agents: map[string]string{"boss": "agents: [painter]\n", "painter": painter + yaml},
			answers: map[string][]any{
				"boss":    {fmt.Sprintf(`{"agents":[{"name":"painter","task":"look","media":[%q]}]}`, refOf(1)), doneStep},
				"painter": {doneStep},
			},
		})
		w.script.profile = visionProfile(chat.ImageLimits{})
		if _, err := w.runner.Run(t.Context(), agent.Request{Agent: "boss", Message: "go", Images: []agent.Image{{Data: picture(1)}}}); err != nil {
			t.Fatal(err)
		}
		asked := w.script.allRequests()[1]
		if got := shownTo(asked); !slices.Equal(got, want) || !strings.Contains(asked.Messages[0].Text(), refOf(1)) {
			t.Errorf("%q: the sub-agent sees %v, want %v", yaml, got, want)
		}
	}
}

func TestBadPolicies(t *testing.T) {
	t.Parallel()
	for yaml, say := range map[string]string{
		"vision: all\n":                                "none of none, granted",
		"vision_context: true\n":                       "mapping",
		"vision_context: {enabled: maybe}\n":           "none of true, false",
		"vision_context: {max_images: 0}\n":            "from 1 to 100",
		"vision_context: {allow_mime_types: [text]}\n": "not an image type",
	} {
		_, err := definition.Load(definitions(map[string]string{"painter": painter + yaml}))
		if err == nil || !strings.Contains(err.Error(), say) || !strings.Contains(err.Error(), "painter.yaml:") {
			t.Errorf("%q: got %v", yaml, err)
		}
	}
	w := build(t, setup{agents: map[string]string{"painter": painter}})
	_, err := agent.NewRunner(agent.Config{
		Definitions: mustLoad(t, map[string]string{"painter": painter + "vision_context:\n  enabled: true\n  allowed_sources: [Paint, Pain]\n"}),
		Actions:     w.actions, Models: w.script, Codec: w.store,
	})
	if err == nil || !strings.Contains(err.Error(), `"Pain" is neither an action nor a tag`) || !strings.Contains(err.Error(), "painter.yaml:7:") {
		t.Errorf("got %v", err)
	}
	if _, err := w.runner.Run(t.Context(), agent.Request{Agent: "painter", Message: "x", Vision: &definition.VisionContextPolicy{MaxImages: -1}}); media.CodeOf(err) != media.CodeInvalid {
		t.Errorf("got %v", err)
	}
}

// TestModelThatPaints: a picture and a sentence in place of a step are the answer.
func TestModelThatPaints(t *testing.T) {
	t.Parallel()
	w := build(t, setup{agents: map[string]string{"painter": painter}})
	made := stored(t, w, 6)
	w.script.answers = map[string][]any{"painter": {chat.Response{Text: "Here it is.", Media: []media.Output{made}, Warnings: []string{"another one was too large"}}}}
	res, err := w.run(t, "paint")
	if err != nil {
		t.Fatal(err)
	}
	if got := refs(res.Outputs); !slices.Equal(got, []string{refOf(6)}) || !strings.HasPrefix(res.Message, "Here it is. ${media:") {
		t.Errorf("promoted %v, message %q", got, res.Message)
	}
	if o := res.Outputs[0]; o.ID == "" || o.Origin.Direction != "output" || o.Origin.Source != "script-1" || o.Label == "" {
		t.Errorf("recorded as %+v", o)
	}
	if !slices.Contains(res.Warnings, "another one was too large") {
		t.Errorf("warnings %q", res.Warnings)
	}
}
