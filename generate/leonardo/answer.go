package leonardo

import (
	"context"
	"regexp"
	"strconv"

	"atelier/generate"
	"atelier/generate/internal/post"
	"atelier/media"
)

// job is what the API says of a new generation; version 2 wraps it in another name.
type job struct {
	ID   string `json:"generationId"`
	Cost *struct {
		Amount amount `json:"amount"`
		Unit   string `json:"unit"`
	} `json:"cost"`
	Credits amount `json:"apiCreditCost"`
}

// amount is a decimal number, as text or as a number; empty for all else.
type amount string

var decimal = regexp.MustCompile(`^[0-9]{1,9}(\.[0-9]{1,12})?$`)

// UnmarshalJSON never fails: what is no amount says nothing.
func (a *amount) UnmarshalJSON(b []byte) error {
	s := string(b)
	if n := len(s); n > 1 && s[0] == '"' {
		s = s[1 : n-1]
	}
	if decimal.MatchString(s) {
		*a = amount(s)
	}
	return nil
}

// generation is the state of a generation. There is no reason in a failed one.
type generation struct {
	ID     string `json:"id"`
	Status string `json:"status"`
	// Seed is a number in answers to polls and a text in calls of the webhook.
	Seed amount `json:"seed"`
	// Images is the name in answers to polls, Pictures the one in calls of the webhook.
	Images   []picture `json:"generated_images"`
	Pictures []picture `json:"images"`
}

type picture struct {
	ID   string `json:"id"`
	URL  string `json:"url"`
	NSFW bool   `json:"nsfw"`
}

// submitted reads the answer to a new generation.
func (d *Driver) submitted(ctx context.Context, a *post.Answer) (generate.Update, error) {
	var got struct {
		Job *job `json:"sdGenerationJob"`
		New *job `json:"generate"`
	}
	if err := d.client.Decode(a, &got); err != nil {
		return generate.Update{}, err
	}
	if a.Cut() {
		return generate.Update{}, d.client.Lost(ctx, a.Broken, 0)
	}
	j := got.Job
	if j == nil {
		j = got.New
	}
	if j == nil || j.ID == "" {
		e := media.Errorf(media.CodeBadResponse, "Leonardo took the request and named no generation: it may be billed, so it is not repeated")
		e.Cause = generate.ErrUnsettled
		return generate.Update{}, e
	}
	u := generate.Update{Task: generate.Handle{ID: j.ID}, Progress: -1, ReportedCredits: string(j.Credits)}
	if c := j.Cost; c != nil {
		switch c.Unit {
		case "DOLLARS":
			u.ReportedUSD = string(c.Amount)
		case "CREDITS":
			u.ReportedCredits = string(c.Amount)
		}
	}
	return u, nil
}

// update reads the state of a generation.
func (d *Driver) update(t generate.Task, h generate.Handle, g *generation) generate.Update {
	u := generate.Update{Task: h, Progress: -1}
	switch g.Status {
	case "COMPLETE":
		u.Done, u.Progress = true, 1
		for _, p := range append(g.Images, g.Pictures...) {
			u.Items = append(u.Items, d.item(p, g.Seed))
		}
	case "FAILED":
		u.Done, u.Progress = true, 1
		for range max(t.N, 1) {
			e := media.Errorf(media.CodeUnavailable, "Leonardo could not finish the generation and gave no reason: change the prompt or the settings, or ask again")
			e.Retryable = false
			u.Items = append(u.Items, generate.Item{Err: e})
		}
	}
	return u
}

// item names one picture. A picture that is flagged is there all the same.
func (d *Driver) item(p picture, seed amount) generate.Item {
	it := generate.Item{URL: p.URL}
	if p.NSFW {
		it.Safety = &generate.Safety{Blocked: p.URL == "", Stage: "output", Categories: []string{"nsfw"}}
	}
	switch {
	case p.URL != "":
	case p.NSFW:
		it.Err = media.Errorf(media.CodeModerated, "Leonardo made the picture and withheld it: change the prompt (nsfw)")
	default:
		it.Err = media.Errorf(media.CodeBadResponse, "Leonardo gave an empty result in place of a picture: try again or use another model")
	}
	if p.ID != "" {
		it.Metadata = map[string]any{"leonardo_image_id": d.client.Clean(p.ID)}
	}
	if n, err := strconv.ParseInt(string(seed), 10, 64); err == nil {
		it.Seed = &n
	}
	return it
}
