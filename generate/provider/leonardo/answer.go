package leonardo

import (
	"cmp"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/internal/post"
	"atelier/media"
)

// accepted is the answer to a new generation; version 2 wraps it under another name.
type accepted struct {
	Job *job `json:"sdGenerationJob"`
	New *job `json:"generate"`
}

type job struct {
	ID   string `json:"generationId"`
	Cost struct {
		Amount post.Text `json:"amount"`
		Unit   string    `json:"unit"`
	} `json:"cost"`
	Credits post.Text `json:"apiCreditCost"`
}

// generation is the state of a generation. A failed one has no reason.
type generation struct {
	ID     string `json:"id"`
	Status string `json:"status"`
	// Seed is a number in answers to polls and a string in webhook calls.
	Seed post.Text `json:"seed"`
	// Images is set in answers to polls, Pictures in webhook calls.
	Images   []picture `json:"generated_images"`
	Pictures []picture `json:"images"`
}

type picture struct {
	ID   string `json:"id"`
	URL  string `json:"url"`
	NSFW bool   `json:"nsfw"`
}

func (d *Driver) update(t driver.Task, h driver.Handle, g *generation) driver.Update {
	return d.client.Update(t, h, post.Status{State: g.Status, Progress: -1, Items: func() (all []driver.Item) {
		for _, p := range append(g.Images, g.Pictures...) {
			it := d.client.Link(p.URL)
			if p.NSFW { // it may still be available
				it.Safety = &generate.Safety{Blocked: p.URL == "", Stage: "output", Categories: []string{"nsfw"}}
			}
			if p.NSFW && p.URL == "" {
				it.Err = media.Errorf(media.CodeModerated, "Leonardo made the picture and withheld it: change the prompt (nsfw)")
			}
			it.Seed, it.Metadata = g.Seed.Int(), d.client.Metadata(map[string]any{"leonardo_image_id": p.ID})
			all = append(all, it)
		}
		return all
	}})
}

// problem is an error answer. Version 1 is flat; parts of the API return a list and use message, with the code in
// extensions.
type problem struct {
	Error      string `json:"error"`
	Message    string `json:"message"`
	Code       string `json:"code"`
	Extensions struct {
		Code string `json:"code"`
	} `json:"extensions"`
}

// phrases take precedence over the API's statuses, which are unreliable.
var phrases = post.Phrases{
	{Any: []string{"moderation", "disallowed words"}, Code: media.CodeModerated},
	{Any: []string{"access-denied", "authorization hook", "authentication hook"}, Code: media.CodeUnauthorized},
	{Any: []string{"not enough", "insufficient"}, Code: media.CodeQuotaExceeded},
	{Any: []string{"not-exists"}, Code: media.CodeNotFound},
}

func explain(a *post.Answer) (post.Fault, bool) {
	var p problem
	read := post.DecodeFirst(a.Body, &p)
	f := post.Fault{Words: cmp.Or(p.Error, p.Message), Label: cmp.Or(p.Code, p.Extensions.Code)}
	return f, read && f.Words+f.Label != ""
}
