package leonardosim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// phoenix models require a contrast; lucid models do not support alchemy.
var (
	phoenix = []string{"de7d3faf-762f-48e0-b3b7-9d0ac3a3fcf3", "6b645e3a-d64f-4341-a6d8-7a3690fbf042"}
	lucid   = []string{"7b592283-e8a7-4c5a-9ba6-d18c31f258b9", "05ce0082-2d80-4a2d-8653-4d1c85e2418e"}
	xl      = []string{
		"e71a1c2f-4f80-4800-934f-2c68979d8cc8", "aa77f04e-3eec-4034-9c07-d0f619684628", "b24e16ff-06e3-43eb-8d33-4416c2d75876",
		"5c232a9e-9061-4777-980a-ddc8e65647c6", "1e60896f-3c26-4296-8ecc-53e2afecc132", "2067ae52-33fd-4a82-bb92-c2c55e7d2786",
	}
	presets = strings.Fields(`ANIME BOKEH CINEMATIC CINEMATIC_CLOSEUP CREATIVE DYNAMIC ENVIRONMENT FASHION FILM FOOD GENERAL HDR
		ILLUSTRATION LEONARDO LONG_EXPOSURE MACRO MINIMALISTIC MONOCHROME MOODY NONE NEUTRAL PHOTOGRAPHY PORTRAIT RAYTRACED
		RENDER_3D RETRO SKETCH_BW SKETCH_COLOR STOCK_PHOTO VIBRANT UNPROCESSED`)
	schedulers = strings.Fields("KLMS EULER_ANCESTRAL_DISCRETE EULER_DISCRETE DDIM DPM_SOLVER PNDM LEONARDO")
	contrasts  = []float64{1, 1.3, 1.8, 2.5, 3, 3.5, 4, 4.5}
)

// request is a valid request.
type request struct {
	prompt, negative, model, style, init string
	width, height, images                int
	seed                                 *int64
	ultra                                bool
	made                                 time.Time
	links                                []string // the links to its pictures
}

// problem is an error of a request.
type problem struct{ code, text string }

func invalid(format string, args ...any) *problem {
	return &problem{"validation-failed", fmt.Sprintf(format, args...)}
}

// body is the endpoint's input as far as images use it.
type body struct {
	Prompt       *string  `json:"prompt"`
	Negative     string   `json:"negative_prompt"`
	Model        string   `json:"modelId"`
	Width        *int     `json:"width"`
	Height       *int     `json:"height"`
	Images       *int     `json:"num_images"`
	Alchemy      *bool    `json:"alchemy"`
	Ultra        bool     `json:"ultra"`
	Public       bool     `json:"public"`
	Contrast     *float64 `json:"contrast"`
	Style        string   `json:"presetStyle"`
	StyleUUID    string   `json:"styleUUID"`
	Guidance     *float64 `json:"guidance_scale"`
	Steps        *int     `json:"num_inference_steps"`
	Seed         *int64   `json:"seed"`
	Scheduler    string   `json:"scheduler"`
	Init         string   `json:"init_image_id"`
	InitStrength *float64 `json:"init_strength"`
	Enhance      bool     `json:"enhancePrompt"`
	Transparency string   `json:"transparency"`
	Tiling       bool     `json:"tiling"`
}

// parse reads and checks a body.
func parse(raw []byte) (*request, *problem) {
	var b body
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&b); err != nil {
		code := "parse-failed"
		if strings.Contains(err.Error(), "unknown field") {
			code = "validation-failed"
		}
		return nil, &problem{code, strings.TrimPrefix(err.Error(), "json: ")}
	}
	q := &request{negative: b.Negative, model: b.Model, style: b.Style, init: b.Init, width: 1024, height: 768, images: 4, seed: b.Seed, ultra: b.Ultra}
	if b.Prompt == nil || strings.TrimSpace(*b.Prompt) == "" || len([]rune(*b.Prompt)) > 1500 {
		return nil, invalid("prompt must be 1 to 1500 characters")
	}
	q.prompt = *b.Prompt
	for _, f := range []struct{ to, from *int }{{&q.width, b.Width}, {&q.height, b.Height}, {&q.images, b.Images}} {
		if f.from != nil {
			*f.to = *f.from
		}
	}
	if bad := b.limits(q); bad != nil {
		return nil, bad
	}
	return q, b.validateCombination(q)
}

// limits validates each field on its own.
func (b body) limits(q *request) *problem {
	within := func(v *float64, lo, hi float64) bool { return v == nil || *v >= lo && *v <= hi }
	words := map[string][]string{b.Style: presets, b.Scheduler: schedulers, b.Transparency: {"disabled", "foreground_only"}}
	for _, word := range slices.Sorted(maps.Keys(words)) {
		if word != "" && !slices.Contains(words[word], word) {
			return invalid("invalid value %q", word)
		}
	}
	switch {
	case q.width%8 != 0 || q.height%8 != 0 || min(q.width, q.height) < 32 || max(q.width, q.height) > 1536:
		return invalid("width and height must be 32 to 1536 and multiples of 8")
	case q.images < 1 || q.images > 8 || q.images > 4 && max(q.width, q.height) > 768:
		return invalid("num_images must be 1 to 8, or 1 to 4 where a side is over 768")
	case !within(b.Guidance, 1, 20):
		return invalid("guidance_scale must be 1 to 20")
	case b.Steps != nil && (*b.Steps < 10 || *b.Steps > 60):
		return invalid("num_inference_steps must be 10 to 60")
	case !within(b.InitStrength, 0.1, 0.9):
		return invalid("init_strength must be 0.1 to 0.9")
	case b.Contrast != nil && !slices.Contains(contrasts, *b.Contrast):
		return invalid("contrast must be one of %v", contrasts)
	case b.Seed != nil && (*b.Seed < 0 || *b.Seed > 2147483637):
		return invalid("seed must be 0 to 2147483637")
	}
	return nil
}

// validateCombination validates the combination of fields.
func (b body) validateCombination(q *request) *problem {
	alchemy := b.Alchemy == nil || *b.Alchemy
	isPhoenix, isLucid := slices.Contains(phoenix, q.model), slices.Contains(lucid, q.model)
	switch {
	case !isPhoenix && !isLucid && !slices.Contains(xl, q.model):
		return &problem{"not-exists", "model not found"}
	case isLucid && b.Alchemy != nil:
		return invalid("alchemy is not supported for this model")
	case isPhoenix && b.Contrast == nil:
		return invalid("contrast is required for this model")
	case !isPhoenix && b.Contrast != nil:
		return invalid("contrast is not supported for this model")
	case isPhoenix && alchemy && *b.Contrast < 2.5:
		return invalid("contrast must be at least 2.5 with alchemy")
	case b.Ultra && (b.Alchemy == nil || *b.Alchemy):
		return invalid("ultra and alchemy exclude each other")
	case b.InitStrength != nil && b.Init == "":
		return invalid("init_strength needs an init image")
	}
	return nil
}
