package geminisim

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"atelier/internal/sim"
)

// request is the body of generateContent, as far as image and speech models read it. Unknown
// fields are refused.
type request struct {
	Contents []struct {
		Role  string           `json:"role"`
		Parts []map[string]any `json:"parts"`
	} `json:"contents"`
	SystemInstruction any              `json:"systemInstruction"`
	SafetySettings    []map[string]any `json:"safetySettings"`
	Config            struct {
		Modalities  []string `json:"responseModalities"`
		Candidates  int      `json:"candidateCount"`
		Seed        *int64   `json:"seed"`
		Temperature *float64 `json:"temperature"`
		TopP        *float64 `json:"topP"`
		TopK        *float64 `json:"topK"`
		MaxOutput   *int     `json:"maxOutputTokens"`
		Thinking    *struct {
			Level string `json:"thinkingLevel"`
		} `json:"thinkingConfig"`
		Speech *speech `json:"speechConfig"`
		Image  struct {
			Ratio string `json:"aspectRatio"`
			Size  string `json:"imageSize"`
		} `json:"imageConfig"`
	} `json:"generationConfig"`
}

// model is one row of the simulator's catalogue.
type model struct {
	id string
	// shutDown is the day of the shutdown, YYYY-MM-DD; empty if none is set.
	shutDown string
	format   string
	tiers    []string
	// tokens are the tokens of a picture by tier, in the order of tiers; one number without tiers.
	tokens []int
	wide   bool // also supports 1:4 to 8:1
	thinks bool
	plans  bool // supports a thinking level
	speaks bool // makes speech, not pictures
	// modern speech models answer with a whole file and read the style of each part.
	modern bool
}

func catalogue() []model {
	return []model{
		{id: "gemini-3-pro-image", format: "png", tiers: []string{"1K", "2K", "4K"}, tokens: []int{1120, 1120, 2000}, thinks: true},
		{id: "gemini-3-pro-image-preview", shutDown: "2026-06-25", format: "png", tiers: []string{"1K", "2K", "4K"}, tokens: []int{1120, 1120, 2000}, thinks: true},
		{id: "gemini-nano-banana-2.1", format: "jpeg", tiers: []string{"1K", "2K", "4K"}, tokens: []int{1120, 1680, 2520}, wide: true, plans: true},
		{id: "gemini-3.1-flash-image", shutDown: "2026-10-29", format: "jpeg", tiers: []string{"512", "1K", "2K", "4K"}, tokens: []int{747, 1120, 1680, 2520}, wide: true},
		{id: "gemini-3.1-flash-lite-image", format: "jpeg", tiers: []string{"1K"}, tokens: []int{1120}},
		{id: "gemini-2.5-flash-image", shutDown: "2026-10-02", format: "png", tokens: []int{1290}},
		{id: "gemini-2.5-flash-preview-tts", speaks: true},
		{id: "gemini-2.5-pro-preview-tts", speaks: true},
		{id: "gemini-3.8-flash-tts", speaks: true, modern: true},
		{id: "gemini-3.8-flash-lite-tts", speaks: true, modern: true},
	}
}

func (m model) alive(now time.Time) bool {
	return m.shutDown == "" || now.UTC().Format(time.DateOnly) < m.shutDown
}

func find(id string, now time.Time) (model, bool) {
	i := slices.IndexFunc(catalogue(), func(m model) bool { return m.id == id })
	if i < 0 || !catalogue()[i].alive(now) {
		return model{}, false
	}
	return catalogue()[i], true
}

// parse reads and checks the body.
func parse(body []byte, m model) (*request, *sim.Answer) {
	q := &request{}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(q); err != nil {
		return nil, invalid("Invalid JSON payload received. " + strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, invalid("Invalid JSON payload received. Unexpected token.")
	}
	size := q.Config.Image.Size
	switch {
	case len(q.Contents) == 0 || strings.TrimSpace(q.prompt()) == "":
		return nil, invalid("* GenerateContentRequest.contents: contents is not specified")
	case m.speaks || q.Config.Speech != nil:
		if bad := q.badSpeech(m); bad != "" {
			return nil, invalid(bad)
		}
		return q, nil
	case q.badPicture() != "":
		return nil, invalid(q.badPicture())
	case q.Config.Thinking != nil && (!m.plans || !slices.Contains([]string{"minimal", "medium", "high"}, q.Config.Thinking.Level)):
		return nil, invalid("Thinking level is not supported for this model.")
	case q.Config.Candidates > 1:
		return nil, invalid("Multiple candidates is not enabled for this model")
	case len(q.Config.Modalities) > 0 && !slices.Contains(q.Config.Modalities, "IMAGE"):
		return nil, invalid("The requested combination of response modalities is not supported by this model.")
	case q.Config.Image.Ratio != "" && m.table()[q.Config.Image.Ratio] == [2]int{}:
		return nil, invalid(fmt.Sprintf("Invalid aspect ratio %q. Supported values: %s", q.Config.Image.Ratio, strings.Join(m.ratios(), ", ")))
	case size != "" && !slices.Contains(m.tiers, size):
		return nil, invalid(fmt.Sprintf("Image size %q is not supported for this model.", size))
	case q.Config.Seed != nil && *q.Config.Seed != int64(int32(*q.Config.Seed)): //nolint:gosec // The conversion loses bits on purpose.
		return nil, invalid("Invalid value at 'generation_config.seed' (TYPE_INT32)")
	}
	return q, nil
}

// The limits of inline pictures.
const (
	maxPictures     = 14
	maxPictureBytes = 7 << 20
)

// badPicture returns the error of the pictures of the request; empty if there is none.
func (q *request) badPicture() string {
	n := 0
	for _, c := range q.Contents {
		for _, p := range c.Parts {
			inline, ok := p["inlineData"].(map[string]any)
			if !ok {
				continue
			}
			n++
			kind, _ := inline["mimeType"].(string)
			data, _ := inline["data"].(string)
			raw, err := base64.StdEncoding.DecodeString(data)
			switch {
			case !slices.Contains([]string{"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"}, kind):
				return fmt.Sprintf("Unsupported MIME type: %s", kind)
			case err != nil:
				return "Invalid value at 'contents[0].parts[0].inline_data.data' (TYPE_BYTES), Base64 decoding failed"
			case len(raw) > maxPictureBytes || http.DetectContentType(raw) != kind && !strings.HasPrefix(kind, "image/hei"):
				return "Unable to process input image. Please retry or report in https://developers.generativeai.google/guide/troubleshooting"
			}
		}
	}
	if n > maxPictures {
		return fmt.Sprintf("Too many images: the limit is %d.", maxPictures)
	}
	return ""
}

// pictures counts the pictures of the request.
func (q *request) pictures() int {
	n := 0
	for _, c := range q.Contents {
		for _, p := range c.Parts {
			if p["inlineData"] != nil {
				n++
			}
		}
	}
	return n
}

// prompt returns all text of the request.
func (q *request) prompt() string {
	var b strings.Builder
	for _, c := range q.Contents {
		for _, p := range c.Parts {
			if t, ok := p["text"].(string); ok {
				b.WriteString(t)
			}
		}
	}
	return b.String()
}

// table returns the pixels of each ratio at 1K, or at the only size of a model
// without tiers.
func (m model) table() map[string][2]int {
	if len(m.tiers) == 0 {
		return map[string][2]int{
			"1:1": {1024, 1024}, "2:3": {832, 1248}, "3:2": {1248, 832}, "3:4": {864, 1184}, "4:3": {1184, 864},
			"4:5": {896, 1152}, "5:4": {1152, 896}, "9:16": {768, 1344}, "16:9": {1344, 768}, "21:9": {1536, 672},
		}
	}
	t := map[string][2]int{
		"1:1": {1024, 1024}, "2:3": {848, 1264}, "3:2": {1264, 848}, "3:4": {896, 1200}, "4:3": {1200, 896},
		"4:5": {928, 1152}, "5:4": {1152, 928}, "9:16": {768, 1376}, "16:9": {1376, 768}, "21:9": {1584, 672},
	}
	if m.wide {
		t["1:4"], t["4:1"], t["1:8"], t["8:1"] = [2]int{512, 2048}, [2]int{2048, 512}, [2]int{384, 3072}, [2]int{3072, 384}
	}
	return t
}

func (m model) ratios() []string {
	var list []string
	for r := range m.table() {
		list = append(list, r)
	}
	slices.Sort(list)
	return list
}

// pixels returns the size of the picture.
func (m model) pixels(q *request) (w, h int) {
	ratio := q.Config.Image.Ratio
	if ratio == "" {
		ratio = "1:1"
	}
	p := m.table()[ratio]
	switch q.Config.Image.Size {
	case "512":
		return p[0] / 2, p[1] / 2
	case "2K":
		return p[0] * 2, p[1] * 2
	case "4K":
		return p[0] * 4, p[1] * 4
	}
	return p[0], p[1]
}

// usage returns the token counts of an answer as JSON.
func (m model) usage(q *request, pictures int) string {
	i := max(slices.Index(m.tiers, q.Config.Image.Size), 0)
	if q.Config.Image.Size == "" {
		i = max(slices.Index(m.tiers, "1K"), 0)
	}
	image, prompt, thoughts := m.tokens[i]*pictures, max(len(q.prompt())/4, 1), 0
	if m.thinks {
		thoughts = 312
	}
	details, seen := "", 560*q.pictures()
	if seen > 0 {
		details = fmt.Sprintf(`,{"modality":"IMAGE","tokenCount":%d}`, seen)
	}
	return fmt.Sprintf(`{"promptTokenCount":%d,"candidatesTokenCount":%d,"thoughtsTokenCount":%d,"totalTokenCount":%d,"promptTokensDetails":[{"modality":"TEXT","tokenCount":%d}%s],"candidatesTokensDetails":[{"modality":"IMAGE","tokenCount":%d}]}`,
		prompt+seen, image, thoughts, prompt+seen+image+thoughts, prompt, details, image)
}
