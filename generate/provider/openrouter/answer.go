package openrouter

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/internal/post"
	"atelier/generate/money"
)

// answer is the body of a 200 response: with a picture, without one, or with an error.
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

// content is text; some models send parts, of which only the text is used.
type content string

// UnmarshalJSON decodes null and anything else as an empty text.
func (c *content) UnmarshalJSON(b []byte) error {
	var parts []part
	if json.Unmarshal(b, (*string)(c)) == nil || json.Unmarshal(b, &parts) != nil {
		return nil //nolint:nilerr // anything else is an empty text
	}
	for _, p := range parts {
		*c += content(p.Text)
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
	// BYOK reports that the maker bills its costs to the account's own key there.
	BYOK        bool `json:"is_byok"`
	CostDetails struct {
		Upstream post.Text `json:"upstream_inference_cost"`
	} `json:"cost_details"`
}

// places is the number of decimal places of amounts.
const places = 18

// upstream returns what the maker bills in addition; empty for nothing.
func (u usage) upstream() string {
	if !u.BYOK {
		return ""
	}
	return post.Amount(string(u.CostDetails.Upstream), 1, places)
}

// usd returns what the call cost, at OpenRouter and at the maker; empty if OpenRouter does not say.
func (u usage) usd() string {
	charged := post.Amount(string(u.Cost), 1, places)
	sum, stated := money.Parse(charged)
	if more, ok := money.Parse(u.upstream()); ok && stated {
		return money.Text(sum.Add(sum, more))
	}
	return charged
}

func (u usage) count() generate.Usage {
	return generate.Usage{InputTokens: u.Prompt, OutputTokens: u.Completion, ImageOutputTokens: u.Details.ImageTokens}
}

func (d *Driver) answered(call post.Call, a *post.Answer, got answer) (driver.Update, error) {
	if got.Error != nil {
		return d.client.Refuse(call, a, got.Error.fault(a))
	}
	u := driver.Update{
		Done: true, Progress: 1, ReportedUSD: got.Usage.usd(), Usage: got.Usage.count(),
		Metadata: d.client.Metadata(map[string]any{"generation_id": got.ID, "served_model": got.Model, "served_by": got.Provider, "upstream_usd": got.Usage.upstream()}),
	}
	for _, c := range got.Choices {
		for _, p := range c.Message.Images {
			if p.ImageURL != nil {
				u.Items = append(u.Items, d.client.Item(a.Media, p.ImageURL.URL))
			}
		}
	}
	if len(u.Items) > 0 {
		return u, nil
	}
	var ending post.Ending
	if len(got.Choices) > 0 {
		c := got.Choices[0]
		if c.Error != nil {
			failed, err := d.client.Refuse(call, a, c.Error.fault(a))
			u.Items = failed.Items
			return u, err
		}
		ending.Reasons, ending.Said = []string{c.FinishReason, c.Native}, cmp.Or(c.Message.Refusal, strings.TrimSpace(string(c.Message.Content)))
		if c.Message.Refusal != "" {
			ending.Reasons = []string{"refusal"}
		}
	}
	var err error
	u.Items, err = d.client.Without(call, ending)
	return u, err
}

// apiError is the content of OpenRouter's error envelope. Its code is an HTTP status; in upstream errors that are
// passed through it can be a word.
type apiError struct {
	Message  string    `json:"message"`
	Code     post.Text `json:"code"`
	Metadata struct {
		Reasons []string             `json:"reasons"`
		Raw     any                  `json:"raw"`
		Headers map[string]post.Text `json:"headers"`
	} `json:"metadata"`
}

func explain(a *post.Answer) (post.Fault, bool) {
	var envelope struct {
		Error *apiError `json:"error"`
	}
	if !post.DecodeFirst(a.Body, &envelope) || envelope.Error == nil {
		return post.Fault{}, false
	}
	return envelope.Error.fault(a), true
}

// fault converts an error, either of OpenRouter or inside a success. In a success a model was run, so only a rate limit
// is repeated.
func (e *apiError) fault(a *post.Answer) post.Fault {
	f := post.Fault{Status: a.Status, Words: e.Message, Quoted: http.Header{}, Started: a.Status == http.StatusOK}
	if raw, ok := e.Metadata.Raw.(string); ok && raw != "" {
		f.Words += ": " + raw
	}
	if n, err := strconv.Atoi(string(e.Code)); err == nil && n >= 400 && n < 600 {
		f.Status = n
	}
	for name, value := range e.Metadata.Headers {
		f.Quoted.Set(name, string(value))
	}
	if len(e.Metadata.Reasons) > 0 {
		f.Blocked = &generate.Safety{Stage: "input", Categories: e.Metadata.Reasons}
	}
	return f
}
