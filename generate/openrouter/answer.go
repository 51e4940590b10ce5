package openrouter

import (
	"context"
	"encoding/json"
	"math/big"
	"net/http"
	"strings"

	"atelier/generate"
	"atelier/generate/internal/post"
	"atelier/media"
)

// answer is the body of a 200, with a picture or without, or with an error in it.
type answer struct {
	ID       string    `json:"id"`
	Model    string    `json:"model"`
	Provider string    `json:"provider"`
	Choices  []choice  `json:"choices"`
	Usage    usage     `json:"usage"`
	Error    *apiError `json:"error"`
}

type choice struct {
	FinishReason string    `json:"finish_reason"`
	Native       string    `json:"native_finish_reason"`
	Error        *apiError `json:"error"`
	Message      struct {
		Content content `json:"content"`
		Refusal string  `json:"refusal"`
		Images  []part  `json:"images"`
	} `json:"message"`
}

// content is text; some models send parts, of which the text counts.
type content string

// UnmarshalJSON takes null and anything else as no text.
func (c *content) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil {
		*c = content(text)
		return nil
	}
	var parts []part
	if json.Unmarshal(b, &parts) == nil {
		for _, p := range parts {
			*c += content(p.Text)
		}
	}
	return nil
}

// usage is optional as a whole and in each part.
type usage struct {
	Prompt     int64       `json:"prompt_tokens"`
	Completion int64       `json:"completion_tokens"`
	Cost       json.Number `json:"cost"`
	Details    struct {
		ImageTokens int64 `json:"image_tokens"`
	} `json:"completion_tokens_details"`
}

// answered reads a 200.
func (d *Driver) answered(ctx context.Context, t generate.Task, a *post.Answer) (generate.Update, error) {
	var got answer
	if err := d.client.Decode(a, &got); err != nil {
		return generate.Update{}, err
	}
	if a.Cut() {
		return d.cut(ctx, a)
	}
	if got.Error != nil {
		return d.failed(t, http.StatusOK, nil, got.Error)
	}
	u := generate.Update{Done: true, Progress: 1, Metadata: d.metadata(got), ReportedUSD: got.Usage.dollars()}
	for _, c := range got.Choices {
		for _, p := range c.Message.Images {
			if p.ImageURL != nil {
				u.Items = append(u.Items, d.item(p.ImageURL.URL, a))
			}
		}
	}
	u.Usage = generate.Usage{
		Calls: 1, InputTokens: got.Usage.Prompt, OutputTokens: got.Usage.Completion, ImageOutputTokens: got.Usage.Details.ImageTokens,
	}
	for _, it := range u.Items {
		if it.Err == nil {
			u.Usage.Images++
		}
	}
	if len(u.Items) > 0 {
		return u, nil
	}
	return d.without(t, u, got.Choices)
}

// item names one picture: data that was lifted, or a link.
func (d *Driver) item(url string, a *post.Answer) generate.Item {
	head, data, isData := strings.Cut(url, ";base64,")
	if !isData && (strings.HasPrefix(url, "https://") || strings.HasPrefix(url, "http://")) {
		return generate.Item{URL: url}
	}
	b, err := d.client.Take(a.Media, data)
	return generate.Item{Blob: b, Err: err, DeclaredMIME: d.client.Clean(strings.TrimPrefix(head, "data:"))}
}

// cut saves the pictures that arrived whole before an answer ended.
func (d *Driver) cut(ctx context.Context, a *post.Answer) (generate.Update, error) {
	u := generate.Update{Done: true, Progress: -1, Usage: generate.Usage{Calls: 1}}
	for _, b := range post.Whole(a.Media) {
		u.Items = append(u.Items, generate.Item{Blob: &b})
	}
	u.Usage.Images = len(u.Items)
	return u, d.client.Lost(ctx, a.Broken, len(u.Items))
}

// refusals are finish reasons of the models' own that mean a safety decision.
var refusals = []string{"content_filter", "SAFETY", "PROHIBITED", "BLOCKLIST", "RECITATION", "NO_IMAGE"}

// without says why a success holds no picture: an error inside of it, a refusal, or an
// answer that should not be.
func (d *Driver) without(t generate.Task, u generate.Update, choices []choice) (generate.Update, error) {
	if len(choices) == 0 {
		return u, media.Errorf(media.CodeBadResponse, "OpenRouter answered without a picture and without a reason: try other words, or another model")
	}
	c := choices[0]
	if c.Error != nil {
		failed, err := d.failed(t, http.StatusOK, nil, c.Error)
		u.Items = failed.Items
		return u, err
	}
	said := strings.TrimSpace(string(c.Message.Content))
	why := ""
	for _, r := range refusals {
		for _, reason := range []string{c.FinishReason, c.Native} {
			if strings.Contains(strings.ToLower(reason), strings.ToLower(r)) {
				why = reason
			}
		}
	}
	switch {
	case c.Message.Refusal != "":
		u.Items = []generate.Item{d.moderated("output", []string{"refusal"}, c.Message.Refusal)}
	case why != "":
		u.Items = []generate.Item{d.moderated("output", []string{why}, said)}
	case said != "" && (c.FinishReason == "stop" || c.FinishReason == ""):
		u.Items = []generate.Item{d.moderated("output", nil, "words in place of a picture: "+said)}
	default:
		return u, media.Errorf(media.CodeBadResponse, "OpenRouter answered without a picture (finish reason %s): try other words, or another model", d.client.Clean(c.FinishReason))
	}
	return u, nil
}

// moderated is a refusal as a result.
func (d *Driver) moderated(stage string, categories []string, note string) generate.Item {
	for i, c := range categories {
		categories[i] = d.client.Clean(c)
	}
	return generate.Item{
		Err:    media.Errorf(media.CodeModerated, "the model behind OpenRouter refused to make the picture: change the prompt (%s)", d.client.Clean(note)),
		Safety: &generate.Safety{Blocked: true, Stage: stage, Categories: categories},
	}
}

// metadata is what OpenRouter says about the call.
func (d *Driver) metadata(a answer) map[string]any {
	m := map[string]any{}
	for name, value := range map[string]string{"generation_id": a.ID, "served_model": a.Model, "served_by": a.Provider} {
		if value != "" {
			m[name] = d.client.Clean(value)
		}
	}
	if len(m) == 0 {
		return nil
	}
	return m
}

// dollars is the cost as decimal text; empty if it is missing or no amount. JSON numbers
// can have an exponent.
func (u usage) dollars() string {
	const places, most = 18, 40
	r, ok := new(big.Rat), false
	if len(u.Cost) <= most && !strings.ContainsAny(string(u.Cost), "/_xX") && smallExponent(string(u.Cost)) {
		r, ok = r.SetString(string(u.Cost))
	}
	if !ok || r.Sign() < 0 {
		return ""
	}
	s := r.FloatString(places)
	return strings.TrimRight(strings.TrimRight(s, "0"), ".")
}

// smallExponent keeps a number from being written with a million digits.
func smallExponent(number string) bool {
	i := strings.IndexAny(number, "eE")
	return i < 0 || len(strings.TrimLeft(number[i+1:], "+-0")) <= 2
}
