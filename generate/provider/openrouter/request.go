package openrouter

import (
	"cmp"
	"context"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/internal/post"
)

type part struct {
	Type     string    `json:"type"`
	Text     string    `json:"text,omitempty"`
	ImageURL *imageURL `json:"image_url,omitempty"`
}

// imageURL is a link or a data URL; in both directions the data is a token.
type imageURL struct {
	URL string `json:"url"`
}

// owned are the body's fields that options cannot set, because the Gateway plans them.
var owned = []string{"model", "models", "messages", "modalities", "n", "stream", "image_config", "seed"}

// typedOwned are the fields of the images endpoint that options cannot set.
var typedOwned = []string{"model", "prompt", "n", "stream", "size", "input_references"}

// typedNames are the setting names of the images endpoint.
var typedNames = post.Names{
	Size: "size", AspectRatio: "aspect_ratio", Tier: "resolution", Quality: "quality", Background: "background", Seed: "seed",
	OutputFormat: "output_format", Compression: "output_compression",
}

// typedAnswer is the body of a 200 response of the images endpoint. The type of a picture may be missing.
type typedAnswer struct {
	Data []struct {
		B64JSON string `json:"b64_json"`
		URL     string `json:"url"`
		Type    string `json:"media_type"`
	} `json:"data"`
	Usage usage     `json:"usage"`
	Error *apiError `json:"error"`
}

// typed makes a call of the images endpoint. The number of pictures is sent only if it is more than one, because
// single-picture models reject the field.
func (d *Driver) typed(ctx context.Context, t driver.Task) (driver.Update, error) {
	if err := d.client.Reaches(t, post.Reach{Methods: []generate.Method{generate.MethodEdit}}); err != nil {
		return driver.Update{}, err
	}
	body := post.Body{"model": t.Model.APIModel, "prompt": t.Prompt}
	if t.N > 1 {
		body["n"] = t.N
	}
	if err := body.AnyOption(t, typedOwned); err != nil {
		return driver.Update{}, err
	}
	body.Settings(t, typedNames)
	var references []part
	for _, in := range t.Inputs {
		references = append(references, part{Type: "image_url", ImageURL: &imageURL{URL: d.client.DataURL(ctx, in.Blob)}})
	}
	body.Set("input_references", references)
	var got typedAnswer
	call := post.Call{Path: "/api/v1/images", Body: body, Of: t.Model.APIModel, Task: t, Into: &got}
	call.Read = func(a *post.Answer) (driver.Update, error) { return d.typedAnswered(call, a, got) }
	return d.client.Do(ctx, call)
}

func (d *Driver) typedAnswered(call post.Call, a *post.Answer, got typedAnswer) (u driver.Update, err error) {
	if got.Error != nil {
		return d.client.Refuse(call, a, got.Error.fault(a))
	}
	u = driver.Update{
		Done: true, Progress: 1, ReportedUSD: got.Usage.usd(), Usage: got.Usage.count(),
		Metadata: d.client.Metadata(map[string]any{"generation_id": a.Header.Get("X-Generation-Id"), "upstream_usd": got.Usage.upstream()}),
	}
	for _, p := range got.Data {
		it := d.client.Item(a.Media, cmp.Or(p.B64JSON, p.URL))
		it.DeclaredMIME, it.Seed = d.client.Clean(p.Type), call.Task.Seed
		u.Items = append(u.Items, it)
	}
	if len(u.Items) == 0 {
		u.Items, err = d.client.Without(call, post.Ending{})
	}
	return u, err
}
