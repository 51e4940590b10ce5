package midjourney

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"atelier/generate"
	"atelier/generate/internal/post"
	"atelier/generate/midjourney/proxy"
	"atelier/media"
)

// update tells how a job stands.
func (d *Driver) update(ctx context.Context, t generate.Task, s proxy.Job) (generate.Update, error) {
	u := generate.Update{Progress: progress(string(s.Progress)), Usage: generate.Usage{Calls: 1}, Done: true}
	var err error
	switch s.Status {
	case "SUCCESS":
		u.Progress = 1
		u.Items, err = d.items(ctx, t, s)
	case "FAILURE":
		u.Items = d.failed(t, string(s.FailReason))
	case "CANCEL":
		u.Items = post.Each(t, generate.Item{Err: media.Errorf(media.CodeCancelled, "the job was cancelled at the Midjourney proxy")})
	default:
		u.Done, u.Usage, u.Preview = false, generate.Usage{}, string(s.ImageURL)
	}
	return u, err
}

// progress reads "45%"; -1 where the proxy tells none.
func progress(text string) float64 {
	n, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(text), "%"), 64)
	if err != nil || !(n >= 0 && n <= 100) {
		return -1
	}
	return n / 100
}

// items are the results of a job that succeeded: a text, single pictures, or one
// picture, which may be a grid.
func (d *Driver) items(ctx context.Context, t generate.Task, s proxy.Job) ([]generate.Item, error) {
	it := generate.Item{RevisedPrompt: media.Scrub(s.Words()), Metadata: map[string]any{"midjourney": parentBy(s)}, Seed: cmp.Or(s.Seed.Int(), t.Seed)}
	if t.Model.Modality == media.ModalityDocument {
		return d.description(ctx, s, it)
	}
	if len(s.Singles) > 1 {
		var items []generate.Item
		for i, link := range s.Singles {
			one := it
			one.URL, one.Metadata = link, map[string]any{"midjourney": parentBy(s), "tile": i + 1}
			items = append(items, one)
		}
		return items, nil
	}
	it.URL = cmp.Or(append(s.Singles, string(s.ImageURL))...)
	if it.URL == "" {
		it.Err = media.Errorf(media.CodeBadResponse, "the Midjourney proxy says that the job succeeded and gives no picture: look at its task list")
		return post.Each(t, it), nil
	}
	if parentBy(s).grid() {
		it.Tiles = &generate.Tiles{Columns: 2, Rows: 2}
	}
	return []generate.Item{it}, nil
}

// parentBy is what a follow-up needs to know of the job.
func parentBy(s proxy.Job) parent {
	return parent{
		TaskID: media.Scrub(string(s.ID)), Hash: media.Scrub(string(s.Properties.MessageHash)), Action: media.Scrub(string(s.Action)),
		Mode: media.Scrub(string(s.Mode)), Buttons: s.Buttons,
	}
}

// description keeps the prompts that describe a picture as a text.
func (d *Driver) description(ctx context.Context, s proxy.Job, it generate.Item) ([]generate.Item, error) {
	text := strings.TrimSpace(media.Scrub(s.Words()))
	it.RevisedPrompt = ""
	if text == "" {
		it.Err = media.Errorf(media.CodeBadResponse, "the Midjourney proxy described the picture with no words")
		return []generate.Item{it}, nil
	}
	b, err := d.codec.Store(ctx, strings.NewReader(text+"\n"), "text/plain")
	if err != nil {
		return nil, err
	}
	it.Blob = &b
	return []generate.Item{it}, nil
}
