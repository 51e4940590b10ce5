package bflsim

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	_ "image/jpeg" // a format of input pictures
	_ "image/png"  // a format of input pictures
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	_ "golang.org/x/image/webp" // a format of input pictures
)

// megapixel is the number of pixels that the API counts as one megapixel.
const megapixel = 1 << 20

// rule describes what one field accepts.
type rule struct {
	kind     string // text, integer, number, flag, format, ratio, tier, address or picture
	min, max float64
	step     int
}

// endpoint is one model.
type endpoint struct {
	fields   map[string]rule
	required []string
	// format is the default of output_format.
	format string
	// cents are the prices of the first megapixel, of each further one, and of each input
	// megapixel; flat prices have only the first.
	cents [3]float64
	// upsampled means that the answer contains the expanded prompt.
	upsampled bool
	// defaultSize is the default size.
	defaultSize [2]int
}

// request is a valid request.
type request struct {
	prompt, format, webhook, secret string
	seed                            *int64
	width, height                   int
	ratio                           string
	area                            int
	pictures                        []image.Config
	upsampled                       bool
	link                            string // the link to its picture; empty if there is none
}

// problem is one violation of the schema.
type problem struct {
	Loc  []any  `json:"loc"`
	Msg  string `json:"msg"`
	Type string `json:"type"`
}

func wrong(field, kind, format string, args ...any) []problem {
	return []problem{{Loc: []any{"body", field}, Msg: fmt.Sprintf(format, args...), Type: kind}}
}

// endpoints returns the models with the fields of the published schema.
func endpoints() map[string]endpoint {
	same := map[string]rule{
		"prompt": {kind: "text"}, "seed": {kind: "integer", min: math.MinInt64, max: math.MaxInt64},
		"safety_tolerance": {kind: "integer", max: 6}, "output_format": {kind: "format"},
		"webhook_url": {kind: "address"}, "webhook_secret": {kind: "text"},
	}
	with := func(more map[string]rule, inputs int) map[string]rule {
		all := maps.Clone(same)
		maps.Copy(all, more)
		for i := range inputs {
			name := "input_image"
			if i > 0 {
				name += "_" + strconv.Itoa(i+1)
			}
			all[name] = rule{kind: "picture"}
		}
		return all
	}
	flag := rule{kind: "flag"}
	side := rule{kind: "integer", min: 64, max: 65536, step: 16}
	flux2 := map[string]rule{"width": side, "height": side, "safety_tolerance": {kind: "integer", max: 5}}
	flex := maps.Clone(flux2)
	flex["steps"], flex["guidance"], flex["prompt_upsampling"] = rule{kind: "integer", min: 1, max: 50}, rule{kind: "number", min: 1.5, max: 10}, flag
	old := rule{kind: "integer", min: 256, max: 1440, step: 32}
	kontext := map[string]rule{"aspect_ratio": {kind: "ratio"}, "prompt_upsampling": flag}
	square := [2]int{1024, 1024}
	return map[string]endpoint{
		"flux-2-pro":      {fields: with(flux2, 8), required: []string{"prompt"}, format: "jpeg", cents: [3]float64{3, 1.5, 1.5}, upsampled: true, defaultSize: square},
		"flux-2-max":      {fields: with(flux2, 8), required: []string{"prompt"}, format: "jpeg", cents: [3]float64{7.000000000000001, 3, 3}, upsampled: true, defaultSize: square},
		"flux-2-flex":     {fields: with(flex, 8), required: []string{"prompt"}, format: "jpeg", cents: [3]float64{5, 5, 5}, upsampled: true, defaultSize: square},
		"flux-2-klein-9b": {fields: with(flux2, 4), required: []string{"prompt"}, format: "jpeg", cents: [3]float64{1.5, 0.2, 0.2}, defaultSize: square},
		"flux-2-klein-4b": {fields: with(flux2, 4), required: []string{"prompt"}, format: "jpeg", cents: [3]float64{1.4, 0.1, 0.1}, defaultSize: square},
		"flux-3-image": {fields: with(map[string]rule{
			"aspect_ratio": {kind: "ratio"}, "resolution": {kind: "tier"}, "grounding": flag, "safety_tolerance": {kind: "integer", max: 4},
		}, 10), required: []string{"prompt"}, format: "jpeg", cents: [3]float64{4.8}, defaultSize: square},
		"flux-pro-1.1": {fields: with(map[string]rule{
			"width": old, "height": old, "prompt_upsampling": flag, "image_prompt": {kind: "picture"},
		}, 0), required: []string{"prompt|image_prompt"}, format: "jpeg", cents: [3]float64{4}, defaultSize: [2]int{1024, 768}},
		"flux-pro-1.1-ultra": {fields: with(map[string]rule{
			"aspect_ratio": {kind: "ratio"}, "raw": flag, "prompt_upsampling": flag,
			"image_prompt": {kind: "picture"}, "image_prompt_strength": {kind: "number", max: 1},
		}, 0), required: []string{"prompt|image_prompt"}, format: "jpeg", cents: [3]float64{6}, defaultSize: [2]int{2720, 1536}},
		"flux-kontext-pro": {fields: with(kontext, 4), required: []string{"prompt"}, format: "png", cents: [3]float64{4}, defaultSize: square},
		"flux-kontext-max": {fields: with(kontext, 4), required: []string{"prompt"}, format: "png", cents: [3]float64{8}, defaultSize: square},
		"flux-pro-1.0-fill": {fields: with(map[string]rule{
			"image": {kind: "picture"}, "mask": {kind: "picture"}, "prompt_upsampling": flag,
			"steps": {kind: "integer", min: 15, max: 50}, "guidance": {kind: "number", min: 1.5, max: 100},
		}, 0), required: []string{"image"}, format: "jpeg", cents: [3]float64{5}, defaultSize: square},
	}
}

// parse reads and checks a body.
func (e endpoint) parse(body []byte) (*request, []problem) {
	var values map[string]any
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	if err := dec.Decode(&values); err != nil {
		return nil, wrong("", "json_invalid", "JSON decode error")
	}
	q := &request{format: e.format, upsampled: e.upsampled, width: e.defaultSize[0], height: e.defaultSize[1], area: e.defaultSize[0] * e.defaultSize[1]}
	for _, names := range e.required {
		if !slices.ContainsFunc(strings.Split(names, "|"), func(n string) bool { return values[n] != nil && values[n] != "" }) {
			return nil, wrong(names, "missing", "Field required")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		r, known := e.fields[name]
		if !known {
			return nil, wrong(name, "extra_forbidden", "Extra inputs are not permitted")
		}
		if values[name] == nil {
			continue
		}
		if bad := q.set(name, r, values[name]); bad != nil {
			return nil, bad
		}
	}
	return q, q.validateCombination(values)
}

// set validates and stores one field.
func (q *request) set(name string, r rule, v any) []problem {
	text, isText := v.(string)
	number, isNumber := v.(json.Number)
	value, _ := number.Float64()
	whole, err := number.Int64()
	switch r.kind {
	case "flag":
		if _, ok := v.(bool); !ok {
			return wrong(name, "bool_type", "Input should be a valid boolean")
		}
	case "integer", "number":
		switch {
		case !isNumber || r.kind == "integer" && err != nil:
			return wrong(name, "int_type", "Input should be a valid %s", r.kind)
		case value < r.min:
			return wrong(name, "greater_than_equal", "Input should be greater than or equal to %g", r.min)
		case value > r.max:
			return wrong(name, "less_than_equal", "Input should be less than or equal to %g", r.max)
		case r.step > 0 && whole%int64(r.step) != 0:
			return wrong(name, "multiple_of", "Input should be a multiple of %d", r.step)
		}
	default:
		if !isText {
			return wrong(name, "string_type", "Input should be a valid string")
		}
	}
	return q.keep(name, r.kind, text, whole)
}

// keep stores the fields on which the answer depends.
func (q *request) keep(name, kind, text string, whole int64) []problem {
	switch name {
	case "prompt":
		q.prompt = text
	case "seed":
		q.seed = &whole
	case "width":
		q.width = int(whole)
	case "height":
		q.height = int(whole)
	case "webhook_secret":
		q.secret = text
	}
	switch kind {
	case "format":
		if !slices.Contains([]string{"jpeg", "png", "webp"}, text) {
			return wrong(name, "enum", "Input should be 'jpeg', 'png' or 'webp'")
		}
		q.format = text
	case "tier":
		side, ok := map[string]int{"768sq": 768, "1k": 1024, "1.5k": 1536, "2k": 2048, "4k": 4096}[text]
		if !ok {
			return wrong(name, "enum", "Input should be '768sq', '1k', '1.5k', '2k' or '4k'")
		}
		q.width, q.height, q.area = side, side, side*side
	case "address":
		if u, err := url.Parse(text); err != nil || u.Host == "" || len(text) > 2083 {
			return wrong(name, "url_parsing", "Input should be a valid URL")
		}
		q.webhook = text
	case "ratio":
		if _, ok := ratio(text); !ok {
			return wrong(name, "value_error", "Value error, aspect ratio must be between 21:9 and 9:21")
		}
		q.ratio = text
	case "picture":
		raw, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return wrong(name, "value_error", "Value error, Invalid base64 encoding")
		}
		c, _, err := image.DecodeConfig(bytes.NewReader(raw))
		if err != nil || len(raw) > 20<<20 || c.Width*c.Height > 20_000_000 {
			return wrong(name, "value_error", "Value error, Invalid image")
		}
		q.pictures = append(q.pictures, c)
	}
	return nil
}

// validateCombination validates the combination of fields.
func (q *request) validateCombination(values map[string]any) []problem {
	if values["width"] != nil && q.width*q.height > 4*megapixel {
		return wrong("width", "value_error", "Value error, width * height must be at most 4 megapixels")
	}
	if values["mask"] != nil && (q.pictures[0].Width != q.pictures[1].Width || q.pictures[0].Height != q.pictures[1].Height) {
		return wrong("mask", "value_error", "Value error, Mask must have the same dimensions as the image")
	}
	for i := 2; values["input_image_"+strconv.Itoa(i)] != nil; i++ {
		if before := "input_image_" + strconv.Itoa(i-1); i > 2 && values[before] == nil || values["input_image"] == nil {
			return wrong("input_image", "value_error", "Value error, input images must be given in order")
		}
	}
	if values["width"] == nil && len(q.pictures) > 0 && values["image_prompt"] == nil && q.ratio == "" {
		q.width, q.height = max(64, q.pictures[0].Width/16*16), max(64, q.pictures[0].Height/16*16)
	}
	return nil
}

// ratio parses W:H between 21:9 and 9:21.
func ratio(text string) (float64, bool) {
	w, h, _ := strings.Cut(text, ":")
	a, aerr := strconv.Atoi(w)
	b, berr := strconv.Atoi(h)
	if aerr != nil || berr != nil || a < 1 || b < 1 {
		return 0, false
	}
	r := float64(a) / float64(b)
	return r, r <= 21.0/9 && r >= 9.0/21
}

// pixels returns the size of the picture.
func (q *request) pixels() (width, height int) {
	r, ok := ratio(q.ratio)
	if !ok {
		return q.width, q.height
	}
	side := func(v float64) int { return int(math.Round(v/16)) * 16 }
	return side(math.Sqrt(float64(q.area) * r)), side(math.Sqrt(float64(q.area) / r))
}

// megapixels returns the megapixels of the input pictures and of the result.
func (q *request) megapixels() (in, out float64) {
	for _, p := range q.pictures {
		in += float64(p.Width*p.Height) / megapixel
	}
	w, h := q.pixels()
	return in, float64(w*h) / megapixel
}

// cost returns the price in cents.
func (e endpoint) cost(in, out float64) float64 {
	return e.cents[0] + math.Ceil(max(out-1, 0))*e.cents[1] + math.Ceil(in)*e.cents[2]
}

// read returns the prompt as the model read it.
func (q *request) read() string {
	if q.upsampled {
		return q.prompt + ", in natural light, finely detailed"
	}
	return q.prompt
}

func round(v float64) float64 { return math.Round(v*100) / 100 }
