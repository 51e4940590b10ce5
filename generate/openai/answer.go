package openai

import (
	"strings"

	"atelier/generate"
	"atelier/generate/internal/post"
	"atelier/media"
	"atelier/wire"
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
}

// usage is optional as a whole and in each part: older models leave details out.
type usage struct {
	InputTokens  int64 `json:"input_tokens"`
	OutputTokens int64 `json:"output_tokens"`
	InputDetails struct {
		ImageTokens int64 `json:"image_tokens"`
	} `json:"input_tokens_details"`
	OutputDetails *struct {
		ImageTokens int64 `json:"image_tokens"`
	} `json:"output_tokens_details"`
}

// answered reads a 200.
func (d *Driver) answered(a *post.Answer, got answer) (generate.Update, error) {
	u := generate.Update{Done: true, Progress: 1, Metadata: d.metadata(got), Usage: got.Usage.count()}
	for _, p := range got.Data {
		u.Items = append(u.Items, d.item(p, a.Media, got.OutputFormat))
	}
	if len(u.Items) == 0 {
		return u, media.Errorf(media.CodeBadResponse, "%s answered without a picture; the call may have been billed: try other words, or another model", d.client.Name)
	}
	return u, nil
}

// item names the picture of a datum; format is what the answer says it is.
func (d *Driver) item(p datum, c *wire.Collector, format string) generate.Item {
	it := generate.Item{RevisedPrompt: media.Scrub(p.RevisedPrompt)}
	if format != "" {
		it.DeclaredMIME = d.client.Clean("image/" + format)
	}
	_, inline, isData := strings.Cut(p.URL, ";base64,")
	switch {
	case p.B64JSON == "" && isData:
		it.Blob, it.Err = d.client.Take(c, inline)
	case p.B64JSON != "":
		it.Blob, it.Err = d.client.Take(c, p.B64JSON)
	case p.URL != "":
		it.URL = p.URL
	default:
		it.Err = media.Errorf(media.CodeBadResponse, "%s gave an empty result in place of a picture", d.client.Name)
	}
	return it
}

// metadata is what the provider says that it applied.
func (d *Driver) metadata(a answer) map[string]any {
	return d.client.Metadata(map[string]string{"background": a.Background, "output_format": a.OutputFormat, "quality": a.Quality, "size": a.Size})
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
