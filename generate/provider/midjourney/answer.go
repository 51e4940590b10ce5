package midjourney

import (
	"cmp"
	"slices"

	"atelier/generate/catalog"
	"atelier/generate/driver"
	"atelier/generate/internal/post"
	"atelier/media"
)

// report is a job as the proxy reports it. Proxies disagree about the types of some fields; a field of another type is
// left empty.
type report struct {
	ID         post.Text  `json:"id"`
	Action     post.Text  `json:"action"`
	Status     post.Text  `json:"status"`
	Mode       post.Text  `json:"mode"`
	Progress   post.Text  `json:"progress"`
	Prompt     post.Text  `json:"prompt"`
	ImageURL   post.Text  `json:"imageUrl"`
	FailReason post.Text  `json:"failReason"`
	Seed       post.Text  `json:"seed"`
	Buttons    []button   `json:"buttons"`
	Singles    []single   `json:"imageUrls"`
	Properties properties `json:"properties"`
}

// button is a follow-up that Midjourney offers; single is one picture of several.
type button struct {
	CustomID post.Text `json:"customId"`
	Label    post.Text `json:"label"`
	Emoji    post.Text `json:"emoji"`
}
type single struct {
	URL post.Text `json:"url"`
}

type properties struct {
	// FinalPrompt is the prompt that was drawn, or that a dialog shows, including flags.
	FinalPrompt post.Text `json:"finalPrompt"`
	MessageHash post.Text `json:"messageHash"`
	BannedWord  post.Text `json:"bannedWord"`
}

func (r report) offers() (all []catalog.Offer) {
	for _, b := range r.Buttons {
		all = append(all, catalog.Offer{ID: string(b.CustomID), Label: string(cmp.Or(b.Label, b.Emoji))})
	}
	return all
}

// links returns the pictures of a job: several, or one, which may be a grid.
func (r report) links() (all []string) {
	for _, x := range append(r.Singles, single{r.ImageURL}) {
		if x.URL != "" {
			all = append(all, string(x.URL))
		}
	}
	if len(all) > 1 && r.ImageURL != "" {
		all = all[:len(all)-1] // the last one is the grid of the others
	}
	return all
}

// update converts the state of a job. While it continues, its picture is a preview.
func (d *Driver) update(t driver.Task, h driver.Handle, r report) driver.Update {
	u := d.client.Update(t, h, post.Status{
		State: string(r.Status), Progress: r.Progress.Percent(), Preview: string(r.ImageURL), Reason: string(r.FailReason),
		Items: func() []driver.Item { return items(t, r) },
	})
	if u.Done {
		u.Usage.Calls = 1
	}
	return u
}

// grids are the actions that draw four pictures, for proxies that send no buttons.
var grids = []string{"IMAGINE", "VARIATION", "REROLL", "BLEND"}

// items returns the results of a successful job: a text, single pictures, or one picture, which may be a grid.
func items(t driver.Task, r report) (all []driver.Item) {
	p := parent{TaskID: string(r.ID), Hash: string(r.Properties.MessageHash), Action: string(r.Action), Mode: string(r.Mode)}
	it := driver.Item{
		RevisedPrompt: string(cmp.Or(r.Properties.FinalPrompt, r.Prompt)), Metadata: map[string]any{"midjourney": p},
		Seed: cmp.Or(r.Seed.Int(), t.Seed), Offers: r.offers(),
	}
	links := r.links()
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
