package proxy

import (
	"cmp"
	"encoding/json"

	"atelier/generate/internal/post"
	"atelier/media"
)

// Job is a job as the proxy tells it.
type Job struct {
	ID         post.Text  `json:"id"`
	Action     post.Text  `json:"action"`
	Status     post.Text  `json:"status"`
	Mode       post.Text  `json:"mode"`
	Progress   post.Text  `json:"progress"`
	Prompt     post.Text  `json:"prompt"`
	ImageURL   post.Text  `json:"imageUrl"`
	FailReason post.Text  `json:"failReason"`
	Seed       post.Text  `json:"seed"`
	Buttons    Buttons    `json:"buttons"`
	Singles    Links      `json:"imageUrls"`
	Properties Properties `json:"properties"`
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
type Buttons []Button

// UnmarshalJSON never fails.
func (o *Buttons) UnmarshalJSON(b []byte) error {
	var all []struct {
		CustomID post.Text `json:"customId"`
		Label    post.Text `json:"label"`
		Emoji    post.Text `json:"emoji"`
	}
	_ = json.Unmarshal(b, &all) // another shape has none
	for _, x := range all {
		id, label := string(x.CustomID), string(cmp.Or(x.Label, x.Emoji))
		if id != "" && len(id)+len(label) <= maxButton && len(*o) < maxButtons {
			*o = append(*o, Button{media.Scrub(id), media.Scrub(label)})
		}
	}
	return nil
}

// Links are the single pictures of a job.
type Links []string

// UnmarshalJSON never fails.
func (l *Links) UnmarshalJSON(b []byte) error {
	var all []struct {
		URL post.Text `json:"url"`
	}
	_ = json.Unmarshal(b, &all) // another shape has none
	for _, x := range all {
		if x.URL != "" {
			*l = append(*l, string(x.URL))
		}
	}
	return nil
}

// Parse reads a job.
func Parse(body []byte) (j Job, err error) {
	err = json.Unmarshal(body, &j)
	return j, err
}

// Properties is what stands beside an answer or a job. Proxies put null or a text in the
// place of the object: then it is empty.
type Properties struct {
	// FinalPrompt is the prompt that is drawn, or that a window shows, flags included.
	FinalPrompt post.Text `json:"finalPrompt"`
	MessageHash post.Text `json:"messageHash"`
	BannedWord  post.Text `json:"bannedWord"`
}

// UnmarshalJSON never fails.
func (p *Properties) UnmarshalJSON(b []byte) error {
	type plain Properties
	var have plain
	if json.Unmarshal(b, &have) == nil {
		*p = Properties(have)
	}
	return nil
}

// Words is the prompt that drew the picture.
func (j Job) Words() string { return string(cmp.Or(j.Properties.FinalPrompt, j.Prompt)) }
