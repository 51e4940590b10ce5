package catalog_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"atelier/generate/catalog"
	"atelier/generate/provider/offline"
	"atelier/media"
)

func TestShippedCatalogue(t *testing.T) {
	t.Parallel()
	c, err := catalog.Load()
	if err != nil {
		t.Fatalf("Load: %v", err)
	}
	for _, m := range c.Models() {
		if m.Source == "" || !strings.Contains(m.Source, "20") && m.Provider != "offline" {
			t.Errorf("%s names no source and date: %q", m.Name, m.Source)
		}
		for _, p := range m.Prices {
			if p.AsOf == "" {
				t.Errorf("%s has a price without a date", m.Name)
			}
		}
		if m.PerMinute != 0 {
			t.Errorf("%s has a limit of %d calls a minute: those are an account's, not a model's", m.Name, m.PerMinute)
		}
		if m.Alive(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)) && m.Life.ReplacedBy != "" && m.Life.ShutDown.IsZero() {
			t.Errorf("%s has a successor and no end", m.Name)
		}
	}
	var options []string
	for field := range reflect.TypeFor[offline.Script]().Fields() {
		options = append(options, field.Tag.Get("json"))
	}
	if m, _ := c.Lookup("offline"); !slices.Equal(m.Options, options) || m.Size.MinSide != offline.MinSide || m.Size.MaxSide != offline.MaxSide {
		t.Errorf("the offline row has options %q and sides %d to %d", m.Options, m.Size.MinSide, m.Size.MaxSide)
	}
	pro, _ := c.Lookup("Nano Banana Pro")
	if got := pro.Size.Table["4K"]["16:9"]; got != "5504x3072" || pro.APIModel != "gemini-3-pro-image" {
		t.Errorf("Nano Banana Pro is %s, 4K 16:9 = %s", pro.APIModel, got)
	}
	for old, successor := range map[string]string{
		"GPT-4o Image 1.0": "gpt-image-2.6-sunburst", "GPT-4o Image 1.5": "gpt-image-2.6-sunburst", "GPT Image 1 mini": "gpt-image-2.6-flare", "DALL·E 3": "gpt-image-2.6-sunburst",
		"Nano Banana 2": "gemini-nano-banana-2.1", "Nano Banana": "gemini-nano-banana-2.1", "Imagen 4": "gemini-nano-banana-2.1",
	} {
		if m, ok := c.Lookup(old); !ok || m.Life.ReplacedBy != successor {
			t.Errorf("%s is replaced by %q, want %s", old, m.Life.ReplacedBy, successor)
		}
	}
}

func TestUserOverridesTheCatalogue(t *testing.T) {
	t.Parallel()
	c, err := catalog.Load(strings.NewReader(`
provider: OpenAI
models:
  - api_model: gpt-image-2
    max_n: 4
    prices: [{unit: image, usd: "0.01", as_of: "2026-11-01"}]
  - name: House Model
    api_model: house-1
    modality: image
    methods: [generate, edit]
    size: {mode: none}
    max_n: 1
    max_inputs: 1
`))
	if err != nil {
		t.Fatalf("Load: %v", err)
	}
	m, _ := c.Lookup("GPT Image 2")
	if m.MaxN != 4 || len(m.Prices) != 1 || m.Size.Step != 16 || m.Name != "GPT Image 2" {
		t.Errorf("overridden row %+v", m)
	}
	if m, ok := c.Lookup("openai/house model"); !ok || m.Provider != "openai" {
		t.Errorf("added row %+v, %v", m, ok)
	}
}

// TestOverridesStayInTheirCatalogue: all catalogues of a process start with the same rows, and a user's file changes
// only its own catalogue.
func TestOverridesStayInTheirCatalogue(t *testing.T) {
	t.Parallel()
	shipped := func() string {
		c, err := catalog.Load()
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(c.Models())
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	before := shipped()
	for _, file := range []string{`
provider: gemini
models:
  - {api_model: gemini-3-pro-image, size: {table: {9K: {"1:1": 9x9}}}, input_types: [image/png], supports: []}
  - {name: X, api_model: x-1, like: gemini/gemini-3-pro-image, size: {table: {8K: {"1:1": 8x8}}}}
`, `
provider: midjourney
models:
  - api_model: midjourney-v7
    name: Mine
    option_rules: {speed: {words: [slow]}}
    acts: [{name: imagine, for: [generate], takes: [speed]}]
    flags: []
`} {
		own, err := catalog.Load(strings.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		if b, err := json.Marshal(own.Models()); err != nil || string(b) == before {
			t.Errorf("the file changed nothing: %v", err)
		}
		if shipped() != before {
			t.Fatalf("the shipped catalogue was changed by %s", file)
		}
	}
}

func TestBadCatalogues(t *testing.T) {
	t.Parallel()
	const good = "name: A\n    api_model: a-1\n    modality: image\n    methods: [generate]\n    size: {mode: none}\n    max_n: 1\n"
	row := func(change string) string { return "provider: x\nmodels:\n  - " + good + change }
	for name, c := range map[string]struct{ yaml, say string }{
		"no provider":    {"models: []", "provider: NAME"},
		"not YAML":       {"provider: [", "YAML"},
		"two files":      {row("") + "---\n" + strings.Replace(row(""), "provider: x", "provider: y", 1), "own file"},
		"endless alias":  {strings.Replace(row(""), "size: {mode: none}", "size: &size {mode: none, table: {a: *size}}", 1), "contains itself"},
		"empty alias":    {row("    aliases: [\" \"]\n"), "aliases"},
		"unknown key":    {"provider: x\nprices: 3", "prices"},
		"unknown field":  {row("    colour: red\n"), "colour"},
		"name taken":     {row("  - name: B\n    api_model: b-1\n    modality: image\n    methods: [generate]\n    size: {mode: none}\n    max_n: 1\n    aliases: [a]\n"), "name of both"},
		"no successor":   {row("    life: {shut_down: 2026-01-01, replaced_by: b-1}\n"), "b-1"},
		"circle":         {row("    life: {shut_down: 2026-01-01, replaced_by: a-1}\n"), "circle"},
		"mode":           {strings.Replace(row(""), "mode: none", "mode: any", 1), "mode"},
		"enum":           {strings.Replace(row(""), "mode: none", "mode: enum", 1), "needs values"},
		"enum value":     {strings.Replace(row(""), "mode: none", "mode: enum, values: [big]", 1), "big"},
		"free":           {strings.Replace(row(""), "mode: none", "mode: free", 1), "step"},
		"no free size":   {strings.Replace(row(""), "mode: none", "mode: free, step: 64, min_side: 65, max_side: 100", 1), "multiple of step"},
		"tier":           {strings.Replace(row(""), "mode: none", `mode: tier, ratios: ["1:1"], tiers: [1K]`, 1), "size.table"},
		"edit alone":     {strings.Replace(row(""), "[generate]", "[edit]", 1), "max_inputs"},
		"emulation":      {row("    emulates: [variation]\n"), "emulates"},
		"emulated edit":  {row("    emulates: [edit]\n"), "emulates"},
		"input type":     {row("    input_types: [image/svg+xml]\n"), "input_types"},
		"method":         {strings.Replace(row(""), "[generate]", "[draw]", 1), "draw"},
		"price":          {row("    prices: [{unit: image, usd: \"-1\"}]\n"), "-1"},
		"price fraction": {row("    prices: [{unit: image, usd: \"1/3\"}]\n"), "1/3"},
		"per_minute":     {row("    per_minute: -1\n"), "per_minute"},
		"concurrency":    {row("    concurrency: -1\n"), "per_minute"},
		"prompt":         {row("    max_prompt: -1\n"), "must not be negative"},
		"wait":           {row("    wait_seconds: -5\n"), "must not be negative"},
		"timeout":        {row("    timeout_seconds: -5\n"), "must not be negative"},
		"max_n":          {strings.Replace(row(""), "max_n: 1", "max_n: 0", 1), "max_n"},
	} {
		_, err := catalog.Load(strings.NewReader(c.yaml))
		if media.CodeOf(err) != media.CodeInvalid || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: %v, want %q", name, err, c.say)
		}
	}
}
