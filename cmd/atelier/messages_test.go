package main

import (
	"image"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier/internal/sim"
)

// TestErrorsNameWhatAPersonGave: an error names the file, the variable or the model that a person gave.
func TestErrorsNameWhatAPersonGave(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	boat := p.pictureFile("boat.png", 80, 80, image.Rectangle{})
	small := p.pictureFile("small.png", 40, 40, image.Rect(0, 0, 9, 9))
	words := filepath.Join(p.dir, "words.png")
	if err := os.WriteFile(words, []byte("no picture"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		variable, value string
		args            []string
		want            []string
	}{
		{"", "", []string{"generate", "x", "--edit", boat, "--mask", "nomask.png"}, []string{"--mask", "nomask.png"}},
		{"", "", []string{"generate", "x", "--edit", "noboat.png"}, []string{"--edit", "noboat.png"}},
		{"", "", []string{"generate", "x", "--edit", boat, "--mask", words}, []string{"words.png", "is not a picture"}},
		{"", "", []string{"generate", "x", "--edit", boat, "--mask", small}, []string{"the mask small.png", "the picture boat.png", "40x40"}},
		{"", "", []string{"generate", "x", "-m", "gpt-image-1"}, []string{"gpt-image-1", "OPENAI_API_KEY"}},
		{"", "", []string{"generate", "x", "-m", "FLUX.2 Pro", "--fallback", "GPT Image 2", "--fallback", "Leonardo Phoenix 1.0"}, []string{"FLUX.2 Pro: ", "BFL_API_KEY", "GPT Image 2: ", "OPENAI_API_KEY", "Leonardo Phoenix 1.0: ", "LEONARDO_API_KEY"}},
		{"ATELIER_IMAGE_MODEL", "nonesuch", []string{"generate", "x"}, []string{"ATELIER_IMAGE_MODEL", `"nonesuch"`}},
		{"ATELIER_IMAGE_MODEL", "GPT Image 2", []string{"generate", "x"}, []string{"ATELIER_IMAGE_MODEL", "GPT Image 2", "OPENAI_API_KEY"}},
		{"ATELIER_IMAGE_FALLBACK", "nonesuch", []string{"generate", "x"}, []string{"ATELIER_IMAGE_FALLBACK", `"nonesuch"`}},
		{"ATELIER_CHAT_MODEL", "nonesuch", []string{"run", "sage", "hello"}, []string{"ATELIER_CHAT_MODEL", `"nonesuch"`}},
		{"ATELIER_BUDGET_DAY", "lots", []string{"generate", "x"}, []string{"ATELIER_BUDGET_DAY", `"lots"`}},
	} {
		if c.variable != "" {
			p.env[c.variable] = c.value
		}
		o := p.atelier(c.args...)
		delete(p.env, c.variable)
		for _, want := range c.want {
			if o.code != exitInput || !strings.Contains(o.stderr, want) {
				t.Errorf("%s=%s %v: exit %d, want %q in %s", c.variable, c.value, c.args[1:], o.code, want, o.stderr)
			}
		}
	}
	for variable, args := range map[string][]string{
		"ATELIER_BUDGET_DAY_IMAGES": {"generate", "x", "-n", "2", "-m", "offline"}, "ATELIER_BUDGET_OWNER_IMAGES": {"generate", "x", "-n", "2", "-m", "offline"},
		"ATELIER_BUDGET_RUN_TOKENS": {"run", "sage", "hello"}, "ATELIER_BUDGET_RUN_IMAGES": {"generate", "x", "-n", "2", "-m", "offline", "--dry-run"},
	} {
		p.env[variable] = "1"
		p.atelier(args...).checkRefused(t, exitBudget, "the budget "+variable)
		delete(p.env, variable)
	}
}

// TestWrongChatKeysNameTheirVariable: if a provider refuses the key, the error names the key's variable.
func TestWrongChatKeysNameTheirVariable(t *testing.T) {
	t.Parallel()
	refuses := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"type":"error","error":{"type":"authentication_error","code":"invalid_api_key","message":"no"}}`))
	}))
	t.Cleanup(refuses.Close)
	for variable, model := range map[string]string{"OPENAI": "openai/gpt-5.4", "ANTHROPIC": "anthropic/claude-sonnet-4-6", "OPENROUTER": "openrouter/meta-llama/llama-4-maverick"} {
		p := newTestEnv(t)
		p.env[variable+"_API_KEY"], p.env[variable+"_BASE_URL"] = "wrong", refuses.URL
		p.atelier("run", "sage", "hello", "--model", model).checkRefused(t, exitProvider, variable+"_API_KEY")
	}
}

// TestChainListsEachReason: the output says why each model before the last one failed.
func TestChainListsEachReason(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	for range 2 {
		s.images.Inject(sim.Injection{Fault: sim.FaultQuota})
	}
	o := p.must("generate", "a harbour", "-m", "GPT Image 2", "--fallback", "GPT Image 2.6 Flare", "--fallback", "FLUX.2 Pro", "--fallback", "Atelier Offline")
	for _, want := range []string{"GPT Image 2: ", "GPT Image 2.6 Flare: ", "FLUX.2 Pro was passed over", "BFL_API_KEY"} {
		if !strings.Contains(o.stdout+o.stderr, want) {
			t.Errorf("no %q in %s%s", want, o.stdout, o.stderr)
		}
	}
}

// TestSubstituteIsReportedOnce: a substitute is reported once per command, without mention of models that were not
// requested.
func TestSubstituteIsReportedOnce(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	for _, args := range [][]string{
		{"run", "sage", "Draw a lighthouse at the sea, 128x128"}, {"run", "sage", "Hello"}, {"generate", "a boat"}, {"generate", "hello", "--modality", "audio"}, {"generate", "a boat", "--dry-run"},
	} {
		o := p.must(args...)
		said := o.stdout + o.stderr
		if n := strings.Count(said, "atelier doctor shows which key to set"); n != 1 {
			t.Errorf("%v prints it %d times: %s", args, n, said)
		}
		for _, strange := range []string{"Llama", "Nano Banana", "OPENROUTER", "GEMINI"} {
			if strings.Contains(o.stderr, strange) {
				t.Errorf("%v speaks of %s: %s", args, strange, o.stderr)
			}
		}
	}
	if o := p.must("generate", "a boat", "-m", "offline", "--size", "64x64"); strings.Contains(o.stderr, "doctor") {
		t.Errorf("the offline model was asked for: %s", o.stderr)
	}
}

// TestEstimatesAreRounded: estimates are rounded for people and exact for programs.
func TestEstimatesAreRounded(t *testing.T) {
	t.Parallel()
	p, _ := connected(t)
	ask := []string{"generate", "a fox", "-m", "GPT Image 2", "--quality", "medium", "--size", "1536x1024", "--dry-run"}
	exact := read[dryRun](p, append(ask, "--json")...).Estimate
	o := p.must(ask...)
	if len(exact) < 6 || !strings.Contains(o.stdout, "estimate  about $0.0") || strings.Contains(o.stdout, exact) {
		t.Errorf("exactly %s: %s", exact, o.stdout)
	}
}
