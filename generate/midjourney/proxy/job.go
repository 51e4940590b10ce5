package proxy

import (
	"cmp"
	"encoding/json"

	"atelier/generate/internal/post"
	"atelier/media"
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
	Offered    post.Loose[[]offered]  `json:"buttons"`
	Singles    post.Loose[[]single]   `json:"imageUrls"`
	Properties post.Loose[Properties] `json:"properties"`
}

// offered is a button as it comes, single a picture of several.
type offered struct {
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

// The bounds of what is kept of a task's buttons; real ones stay far below.
const (
	maxButtons = 40
	maxButton  = 200
)

// Button is a follow-up that Midjourney offers for a picture.
type Button struct {
	CustomID string `json:"custom_id"`
	Label    string `json:"label,omitempty"`
}

// Buttons are those of a job.
func (j Job) Buttons() (all []Button) {
	for _, x := range j.Offered.Value {
		id, label := string(x.CustomID), string(cmp.Or(x.Label, x.Emoji))
		if id != "" && len(id)+len(label) <= maxButton && len(all) < maxButtons {
			all = append(all, Button{media.Scrub(id), media.Scrub(label)})
		}
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
