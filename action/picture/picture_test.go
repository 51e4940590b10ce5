package picture

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"atelier/media/wire/wiretest"

	"atelier/action"
	"atelier/generate"
	"atelier/media"

	"github.com/google/go-cmp/cmp"
)

// newGateway returns the configured result and records the requests.
type newGateway struct {
	asked  []generate.Request
	result *generate.Result
	err    error
}

func (g *newGateway) Generate(_ context.Context, r generate.Request) (*generate.Result, error) {
	g.asked = append(g.asked, r)
	return g.result, g.err
}

func slot(index int, label string) generate.Slot {
	content := fmt.Sprint("picture ", index)
	b := media.Blob{Digest: media.DigestOf([]byte(content)), SizeBytes: int64(len(content)), Facts: media.Facts{MIMEType: "image/png", Width: 1024, Height: 1024}}
	o := media.NewOutput(b, media.Meta{Label: label})
	return generate.Slot{Index: index, Status: generate.StatusSucceeded, Output: &o, RevisedPrompt: "a better prompt"}
}

func badSlot(index int) generate.Slot {
	return generate.Slot{Index: index, Status: generate.StatusModerated, Error: &generate.SlotError{Code: media.CodeModerated, Message: "refused by a safety system"}}
}

// waitingSlot returns a slot whose picture was made but cannot be fetched yet.
func waitingSlot(index int, code media.Code) generate.Slot {
	return generate.Slot{Index: index, Status: generate.StatusRunning, Error: &generate.SlotError{Code: code, Message: "not yet", Retryable: true}}
}

// registry returns the actions on top of g.
func registry(t *testing.T, g *newGateway) *action.Registry {
	t.Helper()
	codec := wiretest.NewCodec(t)
	r, err := action.NewRegistry(action.Config{Store: codec})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Register(Actions(g)...); err != nil {
		t.Fatal(err)
	}
	return r
}

// invoke runs the action as an agent does.
func invoke(t *testing.T, g *newGateway, params map[string]any) (action.Outcome, *media.Set) {
	t.Helper()
	set := &media.Set{}
	return registry(t, g).Invoke(t.Context(), "generate image", params, action.Env{Media: set, Agent: "writer", Prefer: []string{"Nano Banana Pro"}}), set
}

func TestRequestHasTheDefaults(t *testing.T) {
	t.Parallel()
	seed := int64(7)
	for name, test := range map[string]struct {
		params map[string]any
		want   generate.Request
	}{
		"prompt alone": {
			map[string]any{"Prompt": "a lighthouse"},
			generate.Request{
				Method: generate.MethodGenerate, Modality: media.ModalityImage, Prompt: "a lighthouse", Prefer: []string{"Nano Banana Pro"},
				N: 1, DefaultSize: "1024x1024", Quality: "standard", Style: "natural", OutputFormat: "png",
			},
		},
		"all as models write it": {
			map[string]any{
				"prompt": "x", "model": "GPT Image 2", "number_of_images": "3", "Size": "1536x1024", "Quality": "HD", "Style": "Vivid",
				"NegativePrompt": "text", "OutputFormat": "WEBP", "AspectRatio": "3:2", "Seed": "7",
			},
			generate.Request{
				Method: generate.MethodGenerate, Modality: media.ModalityImage, Prompt: "x", Model: "GPT Image 2", Prefer: []string{"Nano Banana Pro"},
				N: 3, Size: "1536x1024", Quality: "hd", Style: "vivid", NegativePrompt: "text", OutputFormat: "webp", AspectRatio: "3:2", Seed: &seed,
			},
		},
		"the default size when it is asked for": {
			map[string]any{"Prompt": "x", "size": "1024x1024", "Quality": "hd"},
			generate.Request{
				Method: generate.MethodGenerate, Modality: media.ModalityImage, Prompt: "x", Prefer: []string{"Nano Banana Pro"},
				N: 1, Size: "1024x1024", Quality: "hd", Style: "natural", OutputFormat: "png",
			},
		},
		"ratio instead of size": {
			map[string]any{"Prompt": "x", "AspectRatio": "16:9"},
			generate.Request{
				Method: generate.MethodGenerate, Modality: media.ModalityImage, Prompt: "x", Prefer: []string{"Nano Banana Pro"},
				N: 1, DefaultSize: "1024x1024", Quality: "standard", Style: "natural", OutputFormat: "png", AspectRatio: "16:9",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := &newGateway{result: &generate.Result{Model: "m", Slots: []generate.Slot{slot(1, "")}}}
			if out, _ := invoke(t, g, test.params); !out.Success {
				t.Fatalf("outcome: %+v", out)
			}
			test.want.Substitute = true
			if diff := cmp.Diff([]generate.Request{test.want}, g.asked); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOutcome(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		result  *generate.Result
		err     error
		code    string
		message string
		images  int
		errors  int
		failure media.Code
	}{
		"two":       {&generate.Result{Model: "m", Slots: []generate.Slot{slot(1, ""), slot(2, "")}}, nil, "SUCCESS", "Generated 2 image(s)", 2, 0, ""},
		"partial":   {&generate.Result{Model: "m", Slots: []generate.Slot{slot(1, ""), badSlot(2), slot(3, "")}}, nil, "PARTIAL", "Generated 2 image(s); 1 failed: refused by a safety system", 2, 1, ""},
		"none":      {&generate.Result{Model: "m", Slots: []generate.Slot{badSlot(1)}}, nil, "ERROR", "No image was made: refused by a safety system", 0, 1, media.CodeModerated},
		"error":     {nil, media.Errorf(media.CodeMissingKey, "set OPENAI_API_KEY"), "ERROR", "set OPENAI_API_KEY", 0, 0, media.CodeMissingKey},
		"cancelled": {&generate.Result{Model: "m", Slots: []generate.Slot{slot(1, "")}}, context.Canceled, "ERROR", "Generated 1 image(s)", 1, 0, media.CodeCancelled},
		"running":   {&generate.Result{Operation: "op-1", Status: generate.StatusRunning}, nil, "SUCCESS", "No image yet: operation op-1 is running; it continues, and its images will be kept", 0, 0, ""},
		"to be fetched": {
			&generate.Result{Operation: "op-1", Status: generate.StatusRunning, Slots: []generate.Slot{slot(1, ""), waitingSlot(2, media.CodeUnavailable)}},
			nil, "SUCCESS", "Generated 1 image(s); operation op-1 continues, and its remaining images will be kept", 1, 0, "",
		},
		"no room": {
			&generate.Result{Operation: "op-1", Status: generate.StatusRunning, Slots: []generate.Slot{slot(1, ""), waitingSlot(2, media.CodeDiskFull)}},
			nil, "ERROR", "Generated 1 image(s); operation op-1 continues, and its remaining images will be kept", 1, 0, media.CodeDiskFull,
		},
		"nothing": {nil, nil, "ERROR", "the gateway returned no result", 0, 0, media.CodeInternal},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, set := invoke(t, &newGateway{result: test.result, err: test.err}, map[string]any{"Prompt": "x"})
			if out.Code != test.code || out.Message != test.message || len(out.Media) != test.images || len(set.List()) != test.images {
				t.Errorf("outcome: %+v", out)
			}
			list, _ := out.Outputs["Errors"].([]any)
			if len(list) != test.errors {
				t.Errorf("errors: %v", list)
			}
			if (out.Error == nil) != (test.failure == "") || out.Error != nil && out.Error.Code != test.failure {
				t.Errorf("error: %+v, want %s", out.Error, test.failure)
			}
		})
	}
}

func TestOutputsAreNamedAndLabelled(t *testing.T) {
	t.Parallel()
	g := &newGateway{result: &generate.Result{Operation: "op-1", Model: "Nano Banana 2.1", Slots: []generate.Slot{slot(1, ""), slot(2, "Cover")}}}
	out, set := invoke(t, g, map[string]any{"Prompt": "x", "NumberOfImages": 2})
	if out.Outputs["Model"] != "Nano Banana 2.1" || out.Outputs["ImageCount"] != 2 || out.Outputs["RevisedPrompt"] != "a better prompt" {
		t.Errorf("outputs: %v", out.Outputs)
	}
	items := set.List()
	if items[0].Label != "Generated image 1" || items[1].Label != "Cover" || items[0].Origin.Operation != "op-1" || items[0].Origin.Source != "Generate Image" {
		t.Errorf("items: %+v", items)
	}
	list, _ := out.Outputs["Images"].([]any)
	want := map[string]any{"refId": string(items[0].Ref), "mimeType": "image/png", "width": 1024, "height": 1024, "label": "Generated image 1"}
	if diff := cmp.Diff(want, list[0]); diff != "" {
		t.Error(diff)
	}
}

func TestChangedSettingsAreReported(t *testing.T) {
	t.Parallel()
	g := &newGateway{result: &generate.Result{Model: "Atelier Offline", Slots: []generate.Slot{slot(1, "")}, Dispositions: []generate.Disposition{
		{Setting: "model", Asked: "Nano Banana Pro", Applied: "Atelier Offline", Outcome: generate.OutcomeSubstituted, Reason: "no key."},
		{Setting: "size", Asked: "1000x1000", Applied: "1024x1024", Outcome: generate.OutcomeAdapted},
		{Setting: "seed", Asked: "7", Outcome: generate.OutcomeDropped},
		{Setting: "style", Asked: "natural", Outcome: generate.OutcomeDropped},
		{Setting: "output_format", Asked: "png", Applied: "png", Outcome: generate.OutcomeApplied},
	}}}
	out, _ := invoke(t, g, map[string]any{"Prompt": "x"})
	for _, want := range []string{"Generated 1 image(s).", "model Nano Banana Pro was replaced by Atelier Offline (no key)", "size 1000x1000 was changed to 1024x1024", "seed 7 was not used"} {
		if !strings.Contains(out.Message, want) {
			t.Errorf("%q is missing in %q", want, out.Message)
		}
	}
	if strings.Contains(out.Message, "style") || len(out.Warnings) != 3 {
		t.Errorf("message %q, warnings %q", out.Message, out.Warnings)
	}
}

// TestWarningsOfTheGatewayAreReported: the model reads them in the message, people in the warnings.
func TestWarningsOfTheGatewayAreReported(t *testing.T) {
	t.Parallel()
	g := &newGateway{result: &generate.Result{Model: "Atelier Offline", Slots: []generate.Slot{slot(1, "")}, Warnings: []string{"the picture does not show them: cats"}}}
	out, _ := invoke(t, g, map[string]any{"Prompt": "x"})
	if out.Message != "Generated 1 image(s). the picture does not show them: cats" || len(out.Warnings) != 1 || !strings.Contains(out.Warnings[0], "Generate Image: the picture") {
		t.Errorf("message %q, warnings %q", out.Message, out.Warnings)
	}
}

// invokeOn runs an action with a media set.
func invokeOn(t *testing.T, g *newGateway, name string, set *media.Set, params map[string]any) action.Outcome {
	t.Helper()
	return registry(t, g).Invoke(t.Context(), name, params, action.Env{Media: set, Prefer: []string{"Nano Banana Pro"}})
}

func TestEditAndVaryTakeRefs(t *testing.T) {
	t.Parallel()
	set := &media.Set{}
	var items []media.Output
	for i := range 3 {
		o, err := set.Add(*slot(10+i, fmt.Sprint("Input ", i)).Output)
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, o)
	}
	for name, c := range map[string]struct {
		action string
		params map[string]any
		want   generate.Request
	}{
		"edit, as models write it": {
			"edit_image",
			map[string]any{"prompt": "bluer", "images": string(items[0].Ref)},
			generate.Request{Method: generate.MethodEdit, Prompt: "bluer", Inputs: items[:1], Label: "Edited image"},
		},
		"edit of two with a mask": {
			"Edit Image",
			map[string]any{"Prompt": "both on a table", "Images": []any{items[0].Ref.Placeholder(), "/media/" + string(items[1].Ref)}, "Mask": string(items[2].Ref), "Size": "auto"},
			generate.Request{Method: generate.MethodEdit, Prompt: "both on a table", Inputs: items[:2], Mask: &items[2], Size: "auto", Label: "Edited image"},
		},
		"vary without words": {
			"Vary Image",
			map[string]any{"Images": []any{map[string]any{"refId": string(items[1].Ref)}}, "NumberOfImages": 3},
			generate.Request{Method: generate.MethodVariation, Inputs: items[1:2], N: 3, Label: "Variation"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := &newGateway{result: &generate.Result{Model: "m", Slots: []generate.Slot{slot(1, "Edited image")}}}
			own := &media.Set{}
			if err := own.Merge(items); err != nil {
				t.Fatal(err)
			}
			out := invokeOn(t, g, c.action, own, c.params)
			if !out.Success || len(out.Media) != 1 || len(own.List()) != 4 {
				t.Fatalf("outcome %+v", out)
			}
			w := c.want
			w.Substitute = true
			w.Modality, w.Prefer, w.Quality, w.Style, w.OutputFormat, w.N = media.ModalityImage, []string{"Nano Banana Pro"}, "standard", "natural", "png", max(w.N, 1)
			if diff := cmp.Diff([]generate.Request{w}, g.asked, cmp.AllowUnexported(media.Digest{})); diff != "" {
				t.Error(diff)
			}
			shown, _ := out.Outputs["Images"].([]any)
			if view, _ := shown[0].(map[string]any); len(shown) != 1 || view["refId"] != string(out.Media[0].Ref) {
				t.Errorf("outputs %v: want the new picture alone", out.Outputs["Images"])
			}
		})
	}
}

func TestBadEdits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		action string
		params map[string]any
		code   media.Code
	}{
		"no picture":         {"Edit Image", map[string]any{"Prompt": "bluer"}, media.CodeInvalid},
		"no prompt":          {"Edit Image", map[string]any{"Images": "img-00000000"}, media.CodeInvalid},
		"unknown ref":        {"Edit Image", map[string]any{"Prompt": "bluer", "Images": "img-00000000"}, media.CodeUnknownRef},
		"unknown mask":       {"Edit Image", map[string]any{"Prompt": "bluer", "Images": string(slot(1, "").Output.Ref), "Mask": "img-00000000"}, media.CodeUnknownRef},
		"no ref at all":      {"Edit Image", map[string]any{"Prompt": "bluer", "Images": "the picture"}, media.CodeUnknownRef},
		"a number":           {"Vary Image", map[string]any{"Images": 7}, media.CodeInvalid},
		"ref in the prompt":  {"Edit Image", map[string]any{"Prompt": "like ${media:img-00000000}", "Images": string(slot(1, "").Output.Ref)}, media.CodeUnknownRef},
		"mask for variation": {"Vary Image", map[string]any{"Images": string(slot(1, "").Output.Ref), "Mask": string(slot(1, "").Output.Ref)}, media.CodeInvalid},
	} {
		set := &media.Set{}
		if _, err := set.Add(*slot(1, "One").Output); err != nil {
			t.Fatal(err)
		}
		g := &newGateway{}
		out := invokeOn(t, g, c.action, set, c.params)
		if out.Success || out.Error.Code != c.code || len(g.asked) != 0 {
			t.Errorf("%s: %+v, %d requests", name, out.Error, len(g.asked))
		}
		if c.code == media.CodeUnknownRef && (!out.Error.Retryable || len(out.Error.Valid) != 1) {
			t.Errorf("%s: %+v lists no valid refs", name, out.Error)
		}
	}
}

func TestBadParameters(t *testing.T) {
	t.Parallel()
	for name, params := range map[string]map[string]any{
		"no prompt": {}, "none": {"Prompt": "x", "NumberOfImages": 0}, "many": {"Prompt": "x", "NumberOfImages": 11},
		"quality": {"Prompt": "x", "Quality": "ultra"}, "unknown": {"Prompt": "x", "Colour": "red"}, "seed": {"Prompt": "x", "Seed": 1.5},
	} {
		g := &newGateway{}
		if out, _ := invoke(t, g, params); out.Success || out.Error.Code != media.CodeInvalid || len(g.asked) != 0 {
			t.Errorf("%s: %+v, %d requests", name, out, len(g.asked))
		}
	}
}
