package gateway_test

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/generate/gateway"
	"atelier/generate/generatetest"
	"atelier/generate/operation"
	"atelier/media"
)

// service returns the file of a user's service with one model.
func service(provider, name, id, more string) io.Reader {
	return strings.NewReader(fmt.Sprintf(`provider: %s
endpoint: {base_url: "http://127.0.0.1:1/v1"}
models:
  - {name: %q, api_model: %q, modality: image, methods: [generate], size: {mode: none}, max_n: 1, source: a test, %s}
`, provider, name, id, more))
}

// rowOf returns the row that a name stands for, as "provider/id", or "" if there is none.
func rowOf(c *catalog.Catalog, name string) string {
	m, ok := c.Lookup(name)
	if !ok {
		return ""
	}
	return m.Provider + "/" + m.APIModel
}

func loaded(t *testing.T, files ...io.Reader) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Load(files...)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range c.Models() {
		if have := rowOf(c, m.Name); have != m.Provider+"/"+m.APIModel {
			t.Errorf("%s of %s is listed by a name that means %q", m.Name, m.Provider, have)
		}
	}
	return c
}

// TestNames: names in the user's files take precedence over shipped ones; a shipped model remains available by its
// provider.
func TestNames(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files []io.Reader
		want  map[string]string
	}{
		"a proxy with name and id": {[]io.Reader{service("corp", "GPT Image 2", "gpt-image-2", "")}, map[string]string{
			"gpt image 2": "corp/gpt-image-2", "gpt-image-2": "corp/gpt-image-2", "corp/GPT Image 2": "corp/gpt-image-2",
			"openai/gpt-image-2": "openai/gpt-image-2", "OpenAI/GPT Image 2": "openai/gpt-image-2", "gpt-image-2-2026-04-21": "openai/gpt-image-2",
		}},
		"a proxy with the id alone": {[]io.Reader{service("corp", "Ours", "gpt-image-2", "")}, map[string]string{
			"GPT Image 2": "openai/gpt-image-2", "gpt-image-2": "corp/gpt-image-2", "openai/gpt-image-2": "openai/gpt-image-2", "ours": "corp/gpt-image-2",
		}},
		"an alias": {[]io.Reader{service("corp", "Ours", "x-1", "aliases: [Nano Banana Pro]")}, map[string]string{
			"Nano Banana Pro": "corp/x-1", "gemini/Nano Banana Pro": "gemini/gemini-3-pro-image", "gemini-3-pro-image": "gemini/gemini-3-pro-image",
		}},
		"ids with their provider": {[]io.Reader{service("corp", "Ours", "openai/gpt-image-2", "")}, map[string]string{
			"openai/gpt-image-2": "corp/openai/gpt-image-2", "corp/openai/gpt-image-2": "corp/openai/gpt-image-2", "gpt-image-2": "openai/gpt-image-2", "openai/GPT Image 2": "openai/gpt-image-2",
		}},
		"an id that a shipped one spells out": {[]io.Reader{strings.NewReader("provider: openai\nmodels:\n  - {name: GPT 5, api_model: gpt-5-image, modality: image, methods: [generate], size: {mode: none}, max_n: 1}\n")}, map[string]string{
			"openai/gpt-5-image": "openai/gpt-5-image", "GPT-5 Image (OpenRouter)": "openrouter/openai/gpt-5-image", "openrouter/openai/gpt-5-image": "openrouter/openai/gpt-5-image",
		}},
		"two services with one id": {[]io.Reader{service("corp", "Ours", "gpt-image-2", ""), service("lab", "Theirs", "gpt-image-2", "")}, map[string]string{
			"gpt-image-2": "", "corp/gpt-image-2": "corp/gpt-image-2", "theirs": "lab/gpt-image-2", "GPT Image 2": "openai/gpt-image-2", "openai/gpt-image-2": "openai/gpt-image-2",
		}},
		"one has it as its name": {[]io.Reader{service("corp", "gpt-image-2", "gpt-image-2", ""), service("lab", "Theirs", "gpt-image-2", "")}, map[string]string{
			"gpt-image-2": "corp/gpt-image-2", "lab/gpt-image-2": "lab/gpt-image-2",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := loaded(t, c.files...)
			for ask, want := range c.want {
				if have := rowOf(all, ask); have != want {
					t.Errorf("%s means %q, want %q", ask, have, want)
				}
			}
		})
	}
}

// TestNamesThatAreTaken: a row lists the models whose names it took, and such a model is named with its provider.
func TestNamesThatAreTaken(t *testing.T) {
	t.Parallel()
	c := loaded(t, service("corp", "GPT Image 2", "gpt-image-2", "aliases: [Nano Banana Pro]"))
	own, _ := c.Lookup("GPT Image 2")
	if want := []string{"openai/gpt-image-2", "gemini/gemini-3-pro-image"}; !slices.Equal(slices.Sorted(slices.Values(own.InsteadOf)), slices.Sorted(slices.Values(want))) {
		t.Errorf("instead of %q, want %q", own.InsteadOf, want)
	}
	for ask, want := range map[string]string{"openai/gpt-image-2": "openai/GPT Image 2", "gemini-3-pro-image": "gemini/Nano Banana Pro"} {
		if m, _ := c.Lookup(ask); m.Name != want || len(m.InsteadOf) != 0 {
			t.Errorf("%s is called %q, want %q", ask, m.Name, want)
		}
	}
	for name, files := range map[string][]io.Reader{
		"two services":    {service("corp", "Ours", "a", ""), service("lab", "ours", "b", "")},
		"an alias":        {service("corp", "Ours", "a", ""), service("lab", "Theirs", "b", "aliases: [Ours]")},
		"of one provider": {strings.NewReader("provider: openai\nmodels:\n  - {name: GPT Image 2, api_model: tuned, modality: image, methods: [generate], size: {mode: none}, max_n: 1}\n")},
	} {
		if _, err := catalog.Load(files...); media.CodeOf(err) != media.CodeInvalid || !strings.Contains(err.Error(), "is the name of both") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestServicesThatAskForMore: what the protocol does not support is refused when the file is read.
func TestServicesThatAskForMore(t *testing.T) {
	t.Parallel()
	text, err := io.ReadAll(service("corp", "Ours", "a", ""))
	if err != nil {
		t.Fatal(err)
	}
	for say, change := range map[string][2]string{
		"methods: services":   {"methods: [generate]", "methods: [generate, variation], max_inputs: 1"},
		"size.mode: services": {"{mode: none}", "{mode: ratio, max_ratio: 2}"},
	} {
		file := strings.Replace(string(text), change[0], change[1], 1)
		if _, err := catalog.Load(strings.NewReader(file)); media.CodeOf(err) != media.CodeInvalid || !strings.Contains(err.Error(), say) {
			t.Errorf("%s: %v", change[1], err)
		}
	}
}

// TestGatewayWithAProxy: names select the proxy; full names and successors select the shipped provider; an id of
// several services is an error that names the choices.
func TestGatewayWithAProxy(t *testing.T) {
	t.Parallel()
	files := []io.Reader{service("corp", "GPT Image 2", "gpt-image-2", ""), service("lab", "Lab", "lab-1", ""), service("mill", "Mill", "lab-1", "")}
	catalogue := loaded(t, files...)
	h := build(t, func(h *testGateway, c *gateway.Config) {
		c.Catalogue = catalogue
		for _, name := range []string{"corp", "lab", "mill"} {
			c.Drivers = append(c.Drivers, &generatetest.Driver{Name: name, Make: h.offline.Make})
		}
	})
	for ask, want := range map[string]string{"GPT Image 2": "corp", "openai/gpt-image-2": "openai", "GPT-4o Image 1.0": "openai", "mill/lab-1": "mill"} {
		if got := h.must(t, generate.Request{Model: ask, Prompt: "a fox"}); got.Provider != want {
			t.Errorf("%s was made by %s, want %s", ask, got.Provider, want)
		}
	}
	_, err := h.Generate(t.Context(), generate.Request{Model: "lab-1", Prompt: "a fox"})
	if media.CodeOf(err) != media.CodeInvalid || !strings.Contains(err.Error(), "say lab/lab-1 or mill/lab-1") {
		t.Errorf("lab-1: %v", err)
	}
	if _, err := h.Lookup("lab-1"); media.CodeOf(err) != media.CodeInvalid || !strings.Contains(err.Error(), "mill/lab-1") {
		t.Errorf("Lookup: %v", err)
	}
}

// TestFallbackToTheSameIDAfterDeath: a proxy's attempt is not taken for one of the shipped provider that has a model
// with the same id.
func TestFallbackToTheSameIDAfterDeath(t *testing.T) {
	t.Parallel()
	catalogue := loaded(t, service("corp", "GPT Image 2", "gpt-image-2", `prices: [{unit: image, usd: "0.01", as_of: "2026-11-21"}]`))
	corp := &generatetest.Driver{Name: "corp"}
	money := &fixedBudget{most: "1"}
	change := func(c *gateway.Config) {
		c.Catalogue, c.Budget, c.Drivers = catalogue, money, append(c.Drivers, corp)
	}
	h := build(t, func(_ *testGateway, c *gateway.Config) { change(c) })
	corp.OnStart = priced(t, h, "0.02")
	op := interruptedOperation(t, h, generate.Request{Model: "openai/gpt-image-2", Prompt: "a house", N: 2, Fallback: []string{"GPT Image 2"}},
		operation.Attempt{ID: "a", Call: 1, Number: 1, APIModel: "gpt-image-2", Status: generate.StatusFailed, Error: &generate.SlotError{Code: media.CodeQuotaExceeded, Message: "no credit"}, FinishedAt: day(11, 21)})
	b := operation.Attempt{ID: "b", Operation: op, Call: 2, Number: 1, Slots: []int{1}, Provider: "corp", APIModel: "gpt-image-2", ReportedUSD: "0.05", Status: generate.StatusFailed, Error: &generate.SlotError{Code: media.CodeModerated, Message: "no"}, FinishedAt: day(11, 21)}
	if err := h.log.Attempt(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	h.openai.OnStart = refusing(t, h, media.Errorf(media.CodeQuotaExceeded, "no credit"))
	got, err := h.successor(t, change).Resume(t.Context(), op)
	if err != nil {
		t.Fatal(err)
	}
	var used []string
	for _, c := range money.settled {
		if c.USD != nil && *c.USD != "0" {
			used = append(used, strings.TrimPrefix(c.ID, op)+" "+*c.USD)
		}
	}
	if !slices.Equal(used, []string{"/1/1 0.07"}) || got.Slots[1].Output == nil || got.Provider != "corp" {
		t.Errorf("settled %q, slots %+v by %s", used, got.Slots, got.Provider)
	}
}

// TestRowsLikeOthers: a row starts with all fields of another row and is independent of it.
func TestRowsLikeOthers(t *testing.T) {
	t.Parallel()
	c := loaded(t, strings.NewReader(`provider: corp
endpoint: {base_url: "http://127.0.0.1:1/v1"}
models:
  - {like: openai/gpt-image-2, max_n: 2, prices: [], option_rules: {user: {words: [me]}}}
  - {like: openai/GPT Image 1, name: Old, api_model: old-1}
`))
	own, _ := c.Lookup("gpt-image-2-2026-04-21")
	shipped, _ := c.Lookup("openai/gpt-image-2")
	if own.Provider != "corp" || own.Name != "GPT Image 2" || own.MaxN != 2 || len(own.Prices) != 0 || own.MaxInputs != shipped.MaxInputs || own.Size.Step != 16 {
		t.Errorf("own row %+v", own)
	}
	if !slices.Equal(own.OptionRules["user"].Words, []string{"me"}) || len(own.OptionRules["moderation"].Words) != 2 || !shipped.OptionRules["user"].Text {
		t.Errorf("rules %+v, shipped %+v", own.OptionRules, shipped.OptionRules)
	}
	if shipped.MaxN != 10 || shipped.Name != "openai/GPT Image 2" || len(shipped.Aliases) != 0 || len(shipped.Prices) == 0 {
		t.Errorf("shipped row %+v", shipped)
	}
	old, _ := c.Lookup("Old")
	if old.Provider != "corp" || !old.Alive(day(11, 21)) || len(old.Aliases) != 0 || rowOf(c, "GPT Image 1") != "openai/gpt-image-1" {
		t.Errorf("a copy of a retired model %+v", old)
	}
	for say, row := range map[string]string{
		"name one as provider/id": "{like: gpt-image-2}", "size.mode": "{like: gemini/gemini-3-pro-image, name: N, api_model: n}", "no model \"corp/x\"": "{like: corp/x, api_model: x}",
		"grid: 0":  "{like: midjourney/midjourney-v7, methods: [generate], size: {mode: none}}",
		"acts: []": "{like: midjourney/midjourney-v7, methods: [generate], size: {mode: none}, grid: 0}",
	} {
		text := "provider: corp\nendpoint: {base_url: \"http://127.0.0.1:1/v1\"}\nmodels:\n  - " + row + "\n"
		if _, err := catalog.Load(strings.NewReader(text)); media.CodeOf(err) != media.CodeInvalid || !strings.Contains(err.Error(), say) {
			t.Errorf("%s: %v", row, err)
		}
	}
}
