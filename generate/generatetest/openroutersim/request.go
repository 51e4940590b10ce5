package openroutersim

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"atelier/internal/sim"
)

// request is the body of a completion, as far as image models read it. Unknown fields are
// refused, although OpenRouter is not always this strict.
type request struct {
	Model      string    `json:"model"`
	Messages   []message `json:"messages"`
	Modalities []string  `json:"modalities"`
	Image      struct {
		Ratio string `json:"aspect_ratio"`
		Size  string `json:"image_size"`
	} `json:"image_config"`
	Seed        *int64         `json:"seed"`
	Temperature *float64       `json:"temperature"`
	TopP        *float64       `json:"top_p"`
	MaxTokens   *int           `json:"max_tokens"`
	User        string         `json:"user"`
	Provider    map[string]any `json:"provider"`
}

type message struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

type part struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	ImageURL struct {
		URL    string `json:"url"`
		Detail string `json:"detail"`
	} `json:"image_url"`
}

// catalogue lists the ids of models that make pictures.
func catalogue() []string {
	return []string{"google/gemini-3-pro-image-preview", "openai/gpt-5-image", "openai/gpt-5.4-image-2"}
}

// ratios returns the pixels of each ratio at 1K.
func ratios() map[string][2]int {
	return map[string][2]int{
		"": {1024, 1024}, "1:1": {1024, 1024}, "2:3": {848, 1264}, "3:2": {1264, 848}, "3:4": {896, 1200}, "4:3": {1200, 896},
		"4:5": {928, 1152}, "5:4": {1152, 928}, "9:16": {768, 1376}, "16:9": {1376, 768}, "21:9": {1584, 672},
	}
}

// parse reads and checks the body.
func parse(body []byte) (*request, *sim.Answer) {
	q := &request{}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(q); err != nil {
		return q, newProblem(http.StatusBadRequest, "Invalid input: "+strings.TrimPrefix(err.Error(), "json: "))
	}
	_, knownRatio := ratios()[q.Image.Ratio]
	switch {
	case !slices.Contains(catalogue(), q.Model):
		return q, newProblem(http.StatusBadRequest, q.Model+" is not a valid model ID")
	case len(q.Messages) == 0 || strings.TrimSpace(q.prompt()) == "":
		return q, newProblem(http.StatusBadRequest, `Input required: specify "prompt" or "messages"`)
	case !slices.Contains(q.Modalities, "image"):
		return q, newProblem(http.StatusBadRequest, "No image modality was asked for")
	case !knownRatio:
		return q, newProblem(http.StatusBadRequest, fmt.Sprintf("Invalid aspect ratio %q", q.Image.Ratio))
	case !slices.Contains([]string{"", "1K", "2K", "4K"}, q.Image.Size):
		return q, newProblem(http.StatusBadRequest, fmt.Sprintf("Invalid image size %q", q.Image.Size))
	}
	for _, p := range q.parts() {
		if p.Type == "image_url" && !goodPicture(p.ImageURL.URL) {
			return q, newProblem(http.StatusBadRequest, "Invalid image data in messages.0.content")
		}
	}
	return q, nil
}

// parts lists the pieces of every message.
func (q *request) parts() []part {
	var all []part
	for _, m := range q.Messages {
		var text string
		var parts []part
		switch {
		case json.Unmarshal(m.Content, &text) == nil:
			all = append(all, part{Type: "text", Text: text})
		case json.Unmarshal(m.Content, &parts) == nil:
			all = append(all, parts...)
		}
	}
	return all
}

// goodPicture reports whether url is a link, or a data URL of a picture whose bytes match its type.
func goodPicture(url string) bool {
	head, data, isData := strings.Cut(url, ";base64,")
	if !isData {
		return strings.HasPrefix(url, "https://")
	}
	raw, err := base64.StdEncoding.DecodeString(data)
	kind := strings.TrimPrefix(head, "data:")
	return err == nil && slices.Contains([]string{"image/png", "image/jpeg", "image/webp", "image/gif"}, kind) && http.DetectContentType(raw) == kind
}

// prompt returns all text of the request.
func (q *request) prompt() string {
	var b strings.Builder
	for _, p := range q.parts() {
		b.WriteString(p.Text)
	}
	return b.String()
}

// pixels returns the size of the picture.
func (q *request) pixels() (w, h int) {
	p := ratios()[q.Image.Ratio]
	factor := map[string]int{"": 1, "1K": 1, "2K": 2, "4K": 4}[q.Image.Size]
	return p[0] * factor, p[1] * factor
}
