package openaisim

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"atelier/internal/sim"
)

// request is the body of a generation, with defaults filled in.
type request struct {
	Model         string
	Prompt        string
	N             *int
	Size          string
	Quality       string
	Background    string
	OutputFormat  string `json:"output_format"`
	Compression   *int   `json:"output_compression"`
	Moderation    string
	Stream        bool
	PartialImages int `json:"partial_images"`
	Complexity    string
	Frames        *int `json:"frame_count"`
	FrameMillis   *int `json:"frame_duration_ms"`
	User          string
	Safety        string `json:"safety_identifier"`
	Fidelity      string `json:"input_fidelity"`
	// Edit holds the pictures of an edit; nil for generations.
	Edit *edit `json:"-"`
}

// known lists the fields of the GPT Image models.
func known() []string {
	return []string{
		"model", "prompt", "n", "size", "quality", "background", "output_format", "output_compression",
		"moderation", "stream", "partial_images", "complexity", "user", "safety_identifier",
		"frame_count", "frame_duration_ms",
	}
}

// model is one row of the simulator's catalogue.
type model struct {
	id string
	// shutDown is the day of the shutdown, YYYY-MM-DD; empty if none is set.
	shutDown string
	// anySize models accept any size by the rule of multiples of 16; others accept three sizes.
	anySize bool
	// extraQualities models accept the qualities xhigh and max.
	extraQualities bool
	// planning models accept a complexity and make gif and svg.
	planning bool
}

func catalogue() []model {
	return []model{
		{id: "gpt-image-1", shutDown: "2026-10-23"},
		{id: "gpt-image-1-mini", shutDown: "2026-12-01"},
		{id: "gpt-image-1.5", shutDown: "2026-12-01"},
		{id: "gpt-image-1.5-2025-12-16", shutDown: "2026-12-01"},
		{id: "chatgpt-image-latest", shutDown: "2026-12-01"},
		{id: "gpt-image-2", anySize: true},
		{id: "gpt-image-2-2026-04-21", anySize: true},
		{id: "gpt-image-2.5-sunburst", anySize: true, extraQualities: true},
		{id: "gpt-image-2.5-sunburst-2026-09-08", anySize: true, extraQualities: true},
		{id: "gpt-image-2.5-flare", anySize: true, extraQualities: true},
		{id: "gpt-image-2.5-flare-2026-09-08", anySize: true, extraQualities: true},
		{id: "gpt-image-2.6-sunburst", anySize: true, extraQualities: true, planning: true},
		{id: "gpt-image-2.6-flare", anySize: true, extraQualities: true, planning: true},
	}
}

func (m model) alive(now time.Time) bool {
	return m.shutDown == "" || now.UTC().Format(time.DateOnly) < m.shutDown
}

// parse parses the body and refuses unknown fields.
func parse(body []byte) (*request, *sim.Answer) {
	var fields map[string]json.RawMessage
	q := &request{OutputFormat: "png"}
	if err := json.Unmarshal(body, &fields); err != nil {
		return nil, badRequest("", "invalid_request_error", "We could not parse the JSON body of your request.")
	}
	for name := range fields {
		if !slices.Contains(known(), name) {
			return nil, badRequest(name, "unknown_parameter", fmt.Sprintf("Unknown parameter: '%s'.", name))
		}
	}
	if err := json.Unmarshal(body, q); err != nil {
		return nil, badRequest("", "invalid_type", "Invalid type for a field of the request.")
	}
	if q.N == nil {
		one := 1
		q.N = &one
	}
	return q, nil
}

// check validates in OpenAI's order: fields first, then the organization.
func (s *Simulator) check(q *request) *sim.Answer {
	all := catalogue()
	for _, id := range s.config.ExtraModels {
		all = append(all, model{id: id, anySize: true})
	}
	i := slices.IndexFunc(all, func(m model) bool { return m.id == q.Model })
	if i < 0 || !all[i].alive(s.Now()) {
		return noModel(q.Model)
	}
	m := all[i]
	switch {
	case q.Prompt == "":
		return badRequest("prompt", "missing_required_parameter", "Missing required parameter: 'prompt'.")
	case utf8.RuneCountInString(q.Prompt) > 32000:
		return badRequest("prompt", "string_above_max_length", "Invalid 'prompt': string too long. Expected a string with maximum length 32000.")
	case *q.N < 1 || *q.N > 10:
		return badRequest("n", "integer_out_of_range", "Invalid 'n': expected a value between 1 and 10.")
	case !slices.Contains(m.qualities(), q.Quality):
		return invalidValue("quality", q.Quality, m.qualities()[1:])
	case !slices.Contains(m.formats(), q.OutputFormat):
		return invalidValue("output_format", q.OutputFormat, m.formats()[1:])
	case q.Complexity != "" && !m.planning:
		return badRequest("complexity", "unsupported_parameter", "Unsupported parameter: 'complexity' is not supported with this model.")
	case q.OutputFormat == "svg" && *q.N > 1:
		return badRequest("n", "invalid_value", "Only n=1 is supported for svg output.")
	case q.OutputFormat == "gif" && (q.Stream || q.Compression != nil || q.Edit != nil && q.Edit.mask != nil):
		return badRequest("output_format", "invalid_value", "Streaming, masks and compression are not supported for gif output.")
	case q.OutputFormat != "gif" && (q.Frames != nil || q.FrameMillis != nil):
		return badRequest("frame_count", "invalid_value", "Frames are supported for gif output only.")
	case q.Frames != nil && (*q.Frames < 2 || *q.Frames > 16):
		return badRequest("frame_count", "integer_out_of_range", "Invalid 'frame_count': expected a value between 2 and 16.")
	case !slices.Contains([]string{"", "auto", "transparent", "opaque"}, q.Background):
		return invalidValue("background", q.Background, []string{"transparent", "opaque", "auto"})
	case q.Background == "transparent" && q.OutputFormat == "jpeg":
		return badRequest("background", "invalid_value", "Transparent background is not supported for 'jpeg'.")
	case q.Compression != nil && q.OutputFormat == "png":
		return badRequest("output_compression", "invalid_value", "Compression less than 100 is not supported for PNG output format")
	case q.Compression != nil && (*q.Compression < 0 || *q.Compression > 100):
		return badRequest("output_compression", "integer_out_of_range", "Invalid 'output_compression': expected a value between 0 and 100.")
	case !slices.Contains([]string{"", "auto", "low"}, q.Moderation):
		return invalidValue("moderation", q.Moderation, []string{"auto", "low"})
	case q.PartialImages < 0 || q.PartialImages > 3:
		return badRequest("partial_images", "integer_out_of_range", "Invalid 'partial_images': expected a value between 0 and 3.")
	case !m.sized(q.Size):
		return badRequest("size", "invalid_value", fmt.Sprintf("Invalid value: '%s'. The size is not supported by %s.", q.Size, q.Model))
	case slices.Contains(s.config.Unverified, q.Model):
		return unverified(q.Model, 403)
	}
	return nil
}

// qualities returns the values that the model accepts, "" first.
func (m model) qualities() []string {
	q := []string{"", "low", "medium", "high", "auto"}
	if m.extraQualities {
		q = append(q, "xhigh", "max")
	}
	return q
}

// formats returns the values that the model accepts, "" first.
func (m model) formats() []string {
	f := []string{"", "png", "jpeg", "webp"}
	if m.planning {
		f = append(f, "gif", "svg")
	}
	return f
}

// sized reports whether the model makes the size.
func (m model) sized(size string) bool {
	if slices.Contains([]string{"", "auto", "1024x1024", "1536x1024", "1024x1536"}, size) {
		return true
	}
	w, h, ok := dimensions(size)
	if !ok || !m.anySize || w%16 != 0 || h%16 != 0 || w > 3*h || h > 3*w {
		return false
	}
	return max(w, h) <= 3840 && w*h >= 650_000 && w*h <= 3840*2160
}

func dimensions(size string) (w, h int, ok bool) {
	a, b, found := strings.Cut(size, "x")
	w, err := strconv.Atoi(a)
	h, err2 := strconv.Atoi(b)
	return w, h, found && err == nil && err2 == nil && w > 0 && h > 0
}

// pixels returns the size of the picture. Without a size, gpt-image-2 chose one that its
// own rule does not allow, so the simulator does too.
func (q *request) pixels() (w, h int) {
	if w, h, ok := dimensions(q.Size); ok {
		return w, h
	}
	if q.Edit != nil { // without a size, an edit has the ratio of its first picture
		return q.Edit.pixels()
	}
	if strings.HasPrefix(q.Model, "gpt-image-2") {
		return 1254, 1254
	}
	return 1024, 1024
}

// quality returns the quality of the picture.
func (q *request) quality() string {
	if q.Quality == "" || q.Quality == "auto" {
		return "medium"
	}
	return q.Quality
}

// usage counts tokens by the table of the first models. Like the real one, gpt-image-1 does
// not split the output.
func (q *request) usage(n int) string {
	w, h := q.pixels()
	column := 0
	if w < h {
		column = 1
	} else if w > h {
		column = 2
	}
	table := map[string][3]int{
		"low": {272, 408, 400}, "medium": {1056, 1584, 1568}, "high": {4160, 6240, 6208},
		"xhigh": {6240, 9360, 9312}, "max": {8320, 12480, 12416},
	}
	image := table[q.quality()][column]
	if w == 1254 {
		image = 2058
	}
	image = (image + 100*q.PartialImages) * n
	text := max(len(q.Prompt)/4, 1)
	seen := q.Edit.tokens()
	split := fmt.Sprintf(`,"output_tokens_details":{"image_tokens":%d,"text_tokens":0}`, image)
	if q.Model == "gpt-image-1" {
		split = ""
	}
	return fmt.Sprintf(`{"total_tokens":%d,"input_tokens":%d,"output_tokens":%d,"input_tokens_details":{"text_tokens":%d,"image_tokens":%d}%s}`,
		text+seen+image, text+seen, image, text, seen, split)
}
