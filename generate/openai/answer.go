package openai

import (
	"cmp"
	"strings"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/internal/post"
	"atelier/media/wire"
)

// answer is the body of a finished call.
type answer struct {
	Data         []datum `json:"data"`
	Background   string  `json:"background"`
	OutputFormat string  `json:"output_format"`
	Quality      string  `json:"quality"`
	Size         string  `json:"size"`
	Usage        *usage  `json:"usage"`
}

// datum is one picture; b64_json holds the token that stands for it.
type datum struct {
	B64JSON       string `json:"b64_json"`
	URL           string `json:"url"`
	RevisedPrompt string `json:"revised_prompt"`
	MIMEType      string `json:"mime_type"`
	// Respected is false where xAI holds a picture back.
	Respected *bool `json:"respect_moderation"`
}

// held reports whether the picture was made and is held back.
func (p datum) held() bool {
	return p.Respected != nil && !*p.Respected && p.B64JSON == "" && p.URL == ""
}

// usage is optional as a whole and in each part: older models leave details out.
type usage struct {
	// Ticks are what xAI bills: ten thousand millions of them are a dollar.
	Ticks        post.Text `json:"cost_in_usd_ticks"`
	InputTokens  int64     `json:"input_tokens"`
	OutputTokens int64     `json:"output_tokens"`
	InputDetails struct {
		ImageTokens int64 `json:"image_tokens"`
	} `json:"input_tokens_details"`
	OutputDetails *struct {
		ImageTokens int64 `json:"image_tokens"`
	} `json:"output_tokens_details"`
}

// ticksPerUSD is the unit of [usage.Ticks], tickPlaces its decimal places.
const (
	ticksPerUSD = 10_000_000_000
	tickPlaces  = 10
)

// answered reads a 200, or the event of a stream that ends a picture.
func (d *Driver) answered(call post.Call, from *wire.Collector, got answer) (u driver.Update, err error) {
	u = driver.Update{Done: true, Progress: 1, Usage: got.Usage.count(), Metadata: d.client.Metadata(map[string]any{
		"background": got.Background, "output_format": got.OutputFormat, "quality": got.Quality, "size": got.Size,
	})}
	if got.Usage != nil && got.Usage.Ticks != "" {
		u.ReportedUSD = post.Amount(string(got.Usage.Ticks), ticksPerUSD, tickPlaces)
	}
	for _, p := range got.Data {
		if p.held() {
			one := call.Task
			one.N = 1
			u.Items = append(u.Items, d.client.Moderated(one, generate.Safety{Stage: "output"}, "%s made the picture and holds it back for its content: change the prompt", call.Task.Model.Name)...)
			continue
		}
		it := d.client.Item(from, cmp.Or(p.B64JSON, p.URL))
		it.RevisedPrompt, it.DeclaredMIME = p.RevisedPrompt, d.client.Clean(p.MIMEType)
		if got.OutputFormat != "" {
			it.DeclaredMIME = strings.Replace(d.client.Clean("image/"+got.OutputFormat), "/svg", "/svg+xml", 1)
		}
		u.Items = append(u.Items, it)
	}
	if len(u.Items) == 0 {
		u.Items, err = d.client.Without(call, post.Ending{})
	}
	return u, err
}

// count splits the tokens. Models that give no split of the output count image
// tokens only.
func (u *usage) count() generate.Usage {
	if u == nil {
		return generate.Usage{}
	}
	out := generate.Usage{
		InputTokens: u.InputTokens, OutputTokens: u.OutputTokens,
		ImageInputTokens: u.InputDetails.ImageTokens, ImageOutputTokens: u.OutputTokens,
	}
	if u.OutputDetails != nil {
		out.ImageOutputTokens = u.OutputDetails.ImageTokens
	}
	return out
}
