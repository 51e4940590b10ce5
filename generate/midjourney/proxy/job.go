package proxy

import (
	"cmp"
	"encoding/json"

	"atelier/generate/catalog"
	"atelier/generate/internal/post"
)

// Job is a job as the proxy tells it.
type Job struct {
	ID         post.Text              `json:"id"`
	Action     post.Text              `json:"action"`
	Status     post.Text              `json:"status"`
	Mode       post.Text              `json:"mode"`
	Progress   post.Text              `json:"progress"`
	Prompt     post.Text              `json:"prompt"`
	ImageURL   post.Text              `json:"imageUrl"`
	FailReason post.Text              `json:"failReason"`
	Seed       post.Text              `json:"seed"`
	Buttons    post.Loose[[]button]   `json:"buttons"`
	Singles    post.Loose[[]single]   `json:"imageUrls"`
	Properties post.Loose[Properties] `json:"properties"`
}

// button is a follow-up that Midjourney offers, single a picture of several.
type button struct {
	CustomID post.Text `json:"customId"`
	Label    post.Text `json:"label"`
	Emoji    post.Text `json:"emoji"`
}
type single struct {
	URL post.Text `json:"url"`
}

// Properties is what stands beside an answer or a job.
type Properties struct {
	// FinalPrompt is the prompt that is drawn, or that a window shows, flags included.
	FinalPrompt post.Text `json:"finalPrompt"`
	MessageHash post.Text `json:"messageHash"`
	BannedWord  post.Text `json:"bannedWord"`
}

// Offers are the buttons of a job.
func (j Job) Offers() (all []catalog.Offer) {
	for _, b := range j.Buttons.Value {
		all = append(all, catalog.Offer{ID: string(b.CustomID), Label: string(cmp.Or(b.Label, b.Emoji))})
	}
	return all
}

// Links are the pictures of a job: several, or one, which may be a grid.
func (j Job) Links() (all []string) {
	for _, x := range append(j.Singles.Value, single{j.ImageURL}) {
		if x.URL != "" {
			all = append(all, string(x.URL))
		}
	}
	if len(all) > 1 && j.ImageURL != "" {
		all = all[:len(all)-1] // the grid of the others
	}
	return all
}

// Parse reads a job.
func Parse(body []byte) (j Job, err error) {
	err = json.Unmarshal(body, &j)
	return j, err
}

// Words is the prompt that drew the picture.
func (j Job) Words() string { return string(cmp.Or(j.Properties.Value.FinalPrompt, j.Prompt)) }
