package midjourney

import (
	"cmp"
	"slices"

	"atelier/generate/driver"
	"atelier/generate/internal/post"
	"atelier/generate/midjourney/proxy"
	"atelier/media"
)

// update tells how a job stands. While it continues, its picture is a preview.
func (d *Driver) update(t driver.Task, h driver.Handle, s proxy.Job) driver.Update {
	u := d.client.Stands(t, h, post.Standing{
		State: string(s.Status), Progress: s.Progress.Percent(), Preview: string(s.ImageURL), Why: string(s.FailReason),
		Items: func() []driver.Item { return items(t, s) },
	})
	if u.Done {
		u.Usage.Calls = 1
	}
	return u
}

// grids are the jobs that draw four pictures, at proxies that tell of no buttons.
var grids = []string{"IMAGINE", "VARIATION", "REROLL", "BLEND"}

// items are the results of a job that succeeded: a text, single pictures, or one
// picture, which may be a grid.
func items(t driver.Task, s proxy.Job) (all []driver.Item) {
	p := parentBy(s)
	it := driver.Item{RevisedPrompt: s.Words(), Metadata: map[string]any{"midjourney": p}, Seed: cmp.Or(s.Seed.Int(), t.Seed), Offers: s.Offers()}
	links := s.Links()
	switch {
	case t.Model.Modality == media.ModalityDocument:
		it.Text, it.RevisedPrompt = it.RevisedPrompt, ""
		return []driver.Item{it}
	case len(links) == 0:
		it.Err = media.Errorf(media.CodeBadResponse, "the Midjourney proxy says that the job succeeded and gives no picture: look at its task list")
		return post.Each(t, it)
	case len(links) == 1 && (t.Model.Tiled(it.Offers) || len(it.Offers) == 0 && slices.Contains(grids, p.Action)):
		it.Tiles = &driver.Tiles{Columns: 2, Rows: 2}
	}
	for i, link := range links {
		it.URL = link
		if len(links) > 1 {
			it.Metadata = map[string]any{"midjourney": p, "tile": i + 1}
		}
		all = append(all, it)
	}
	return all
}

// parentBy is what a follow-up needs to know of the job.
func parentBy(s proxy.Job) parent {
	return parent{
		TaskID: string(s.ID), Hash: string(s.Properties.Value.MessageHash), Action: string(s.Action),
		Mode: string(s.Mode),
	}
}
