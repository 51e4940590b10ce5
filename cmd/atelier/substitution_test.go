package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"atelier/internal/sim"

	"atelier/agent"
	"atelier/generate"
	"atelier/ledger"
)

// lastMessage returns the last message that was sent to the chat model.
func (p *providers) lastMessage() string {
	all := p.chat.Requests()
	messages := all[len(all)-1].Messages
	return messages[len(messages)-1].Text
}

// TestModelThatAnAgentNamesWithoutItsKey: a model without a key that an agent names is substituted, which the chat
// model, the person, --json and the operation get to know. One that a person names is refused.
func TestModelThatAnAgentNamesWithoutItsKey(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	s.chat.Answer = answersInOrder(act(t, "Generate Image", map[string]any{"Prompt": "three cats on a sofa", "Model": "Nano Banana Pro"}), done(t, "Three cats."))
	o := p.must("run", "sage", "Draw three cats on a sofa with Nano Banana Pro", "--json")
	ans := decode[answer](t, o)
	if message := s.lastMessage(); !strings.Contains(message, "Generated 1 image(s)") || !strings.Contains(message, "model Nano Banana Pro was replaced by GPT Image 2") || !strings.Contains(message, "GEMINI_API_KEY") {
		t.Errorf("the message to the model is %s", message)
	}
	substituted := func(d generate.Disposition) bool {
		return d.Asked == "Nano Banana Pro" && d.Applied == "GPT Image 2" && d.Outcome == generate.OutcomeSubstituted && strings.Contains(d.Reason, "GEMINI_API_KEY")
	}
	if d := ans.Dispositions[len(ans.Dispositions)-1]; d.Setting != agent.ImageModelSetting || !substituted(d) {
		t.Errorf("dispositions %+v", ans.Dispositions)
	}
	if !slices.ContainsFunc(ans.Warnings, func(w string) bool { return strings.Contains(w, "replaced by GPT Image 2") }) || ans.Usage.Images != 1 {
		t.Errorf("warnings %q, %d images", ans.Warnings, ans.Usage.Images)
	}
	shown := p.must("runs", "show", ans.RunID).stdout
	if strings.Count(shown, "GPT Image 2") != 1 {
		t.Errorf("runs show prints it not once: %s", shown)
	}
	op := read[ledger.List[ledger.Operation]](p, "operations", "list", "--json").Items[0]
	var dispositions []generate.Disposition
	if err := json.Unmarshal(op.Dispositions, &dispositions); err != nil || !slices.ContainsFunc(dispositions, substituted) {
		t.Errorf("the operation has %+v, %v", dispositions, err)
	}
	asked := len(s.chat.Requests())
	for _, args := range [][]string{
		{"run", "sage", "Draw a cat, 128x128", "--image-model", "Nano Banana Pro"},
		{"generate", "a cat", "--model", "Nano Banana Pro"},
	} {
		if o := p.atelier(args...); o.code != exitInput || !strings.Contains(o.stderr, "GEMINI_API_KEY") {
			t.Errorf("%v: exit %d: %s", args, o.code, o.stderr)
		}
	}
	p.env["ATELIER_IMAGE_MODEL"] = "Nano Banana Pro"
	if o := p.atelier("generate", "a cat"); o.code != exitInput || !strings.Contains(o.stderr, "GEMINI_API_KEY") {
		t.Errorf("ATELIER_IMAGE_MODEL: exit %d: %s", o.code, o.stderr)
	}
	if n := len(s.chat.Requests()); n != asked {
		t.Errorf("%d model calls", n-asked)
	}
}

// TestQualityReachesNanoBananaPro: hd is 2K in the request to Google, unless the agent gives a size, and the size
// reported is that of the picture.
func TestQualityReachesNanoBananaPro(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		params                     map[string]any
		ratio, tier, message, wide string
	}{
		"nothing":         {map[string]any{}, "1:1", "1K", `"height":1024,`, `"width":1024}`},
		"hd":              {map[string]any{"Quality": "hd"}, "1:1", "2K", `"height":2048,`, `"width":2048}`},
		"hd and ratio":    {map[string]any{"Quality": "hd", "AspectRatio": "16:9"}, "16:9", "2K", `"height":1536,`, `"width":2752}`},
		"hd and a size":   {map[string]any{"Quality": "hd", "Size": "1024x1024"}, "1:1", "1K", `"height":1024,`, `"width":1024}`},
		"a size near one": {map[string]any{"Size": "1536x1024"}, "3:2", "1K", "size 1536x1024 was changed to 1264x848", `"width":1264}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newTestEnv(t)
			s, url := serve(t)
			p.withOpenAI(s, url)
			p.env["GEMINI_API_KEY"], p.env["GEMINI_BASE_URL"] = s.gemini.Key(), url
			p.env["ATELIER_CHAT_MODEL"] = "openai/gpt-5.4"
			c.params["Prompt"] = "a lighthouse"
			s.chat.Answer = answersInOrder(act(t, "Generate Image", c.params), done(t, "A lighthouse."))
			p.must("run", "sage", "Draw a lighthouse, 128x128")
			var got struct {
				GenerationConfig struct {
					ImageConfig struct{ AspectRatio, ImageSize string }
				}
			}
			for _, body := range s.received() {
				if strings.Contains(body, "imageConfig") {
					if err := json.Unmarshal([]byte(body), &got); err != nil {
						t.Fatal(err)
					}
				}
			}
			if i := got.GenerationConfig.ImageConfig; i.AspectRatio != c.ratio || i.ImageSize != c.tier {
				t.Errorf("Google was asked for %+v, want %s %s", i, c.ratio, c.tier)
			}
			if message := s.lastMessage(); !strings.Contains(message, c.message) || !strings.Contains(message, c.wide) {
				t.Errorf("the message to the model is %s", message)
			}
		})
	}
}

// TestRunWithoutItsPictureWarns: the output, --json and the event log say why there is no picture.
func TestRunWithoutItsPictureWarns(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	s.images.Inject(sim.Injection{Fault: sim.FaultModerated}, sim.Injection{Fault: sim.FaultModerated})
	answers := []string{act(t, "Generate Image", map[string]any{"Prompt": "a cat"}), done(t, "Here is your cat.")}
	s.chat.Answer = answersInOrder(append(answers, answers...)...)
	const warns = "the run asked for a picture and none was made: Generate Image: No image was made"
	o := p.must("run", "sage", "Draw a cat, 128x128")
	if !strings.Contains(o.stderr, "warning: "+warns) {
		t.Errorf("the output is %s%s", o.stdout, o.stderr)
	}
	ans := read[answer](p, "run", "sage", "Draw a cat, 128x128", "--json")
	if ans.Status != agent.StatusSucceeded || !slices.ContainsFunc(ans.Warnings, func(w string) bool { return strings.HasPrefix(w, warns) }) {
		t.Errorf("%s with %q", ans.Status, ans.Warnings)
	}
	if events := p.must("runs", "events", ans.RunID).stdout; !strings.Contains(events, warns) {
		t.Errorf("events:\n%s", events)
	}
}
