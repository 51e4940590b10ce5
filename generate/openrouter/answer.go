package openrouter

import (
	"cmp"
	"encoding/json"
	"slices"
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
	Prompt     int64     `json:"prompt_tokens"`
	Completion int64     `json:"completion_tokens"`
	Cost       post.Text `json:"cost"`
	Details    struct {
		ImageTokens int64 `json:"image_tokens"`
	} `json:"completion_tokens_details"`
}

// answered reads a 200.
func (d *Driver) answered(call post.Call, a *post.Answer, got answer) (generate.Update, error) {
	if got.Error != nil {
		return d.client.Refuse(call, a, got.Error.fault(a))
	}
	const places = 18
	u := generate.Update{
		Done: true, Progress: 1, ReportedUSD: post.Amount(string(got.Usage.Cost), 1, places),
		Metadata: d.client.Metadata(map[string]string{"generation_id": got.ID, "served_model": got.Model, "served_by": got.Provider}),
		Usage: generate.Usage{
			InputTokens: got.Usage.Prompt, OutputTokens: got.Usage.Completion, ImageOutputTokens: got.Usage.Details.ImageTokens,
		},
	}
	for _, c := range got.Choices {
		for _, p := range c.Message.Images {
			if p.ImageURL != nil {
				u.Items = append(u.Items, d.item(p.ImageURL.URL, a))
			}
		}
	}
	if len(u.Items) > 0 {
		return u, nil
	}
	if len(got.Choices) == 0 {
		return u, media.Errorf(media.CodeBadResponse, "OpenRouter answered without a picture and without a reason: try other words, or another model")
	}
	c := got.Choices[0]
	if c.Error != nil {
		failed, err := d.client.Refuse(call, a, c.Error.fault(a))
		u.Items = failed.Items
		return u, err
	}
	var err error
	u.Items, err = d.without(c)
	return u, err
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

// refusals are parts of the finish reasons that mean a safety decision.
var refusals = []string{"content_filter", "safety", "prohibited", "blocklist", "recitation", "no_image"}

// without says why a success holds no picture: a refusal, or an answer that should not be.
func (d *Driver) without(c choice) ([]generate.Item, error) {
	said, why := cmp.Or(c.Message.Refusal, strings.TrimSpace(string(c.Message.Content))), ""
	for _, reason := range []string{c.FinishReason, c.Native} {
		if slices.ContainsFunc(refusals, func(r string) bool { return strings.Contains(strings.ToLower(reason), r) }) {
			why = reason
		}
	}
	verdict := generate.Safety{Stage: "output"}
	switch {
	case c.Message.Refusal != "":
		verdict.Categories = []string{"refusal"}
	case why != "":
		verdict.Categories = []string{why}
	case said == "" || c.FinishReason != "stop" && c.FinishReason != "":
		return nil, media.Errorf(media.CodeBadResponse, "OpenRouter answered without a picture (finish reason %s): try other words, or another model", d.client.Clean(c.FinishReason))
	}
	return d.client.Moderated(1, verdict, "the model behind OpenRouter refused to make the picture: change the prompt (%s)", d.client.Clean(said)), nil
}
