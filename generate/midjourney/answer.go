package midjourney

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"atelier/generate"
	"atelier/generate/internal/post"
	"atelier/media"
)

// jobState is a task as the proxy tells it. Proxies disagree about the shapes of what
// stands beside the words: what has another shape is empty.
type jobState struct {
	ID         post.Text  `json:"id"`
	Action     post.Text  `json:"action"`
	Status     post.Text  `json:"status"`
	Mode       post.Text  `json:"mode"`
	Progress   post.Text  `json:"progress"`
	Prompt     post.Text  `json:"prompt"`
	ImageURL   post.Text  `json:"imageUrl"`
	FailReason post.Text  `json:"failReason"`
	Seed       post.Text  `json:"seed"`
	Buttons    offers     `json:"buttons"`
	Singles    links      `json:"imageUrls"`
	Properties properties `json:"properties"`
}

// The bounds of what is kept of a task's buttons; real ones stay far below.
const (
	maxButtons = 40
	maxButton  = 200
)

// offers are the buttons of a job.
type offers []button

// UnmarshalJSON never fails.
func (o *offers) UnmarshalJSON(b []byte) error {
	var all []struct {
		CustomID post.Text `json:"customId"`
		Label    post.Text `json:"label"`
		Emoji    post.Text `json:"emoji"`
	}
	_ = json.Unmarshal(b, &all) // another shape has none
	for _, x := range all {
		id, label := string(x.CustomID), string(cmp.Or(x.Label, x.Emoji))
		if id != "" && len(id)+len(label) <= maxButton && len(*o) < maxButtons {
			*o = append(*o, button{media.Scrub(id), media.Scrub(label)})
		}
	}
	return nil
}

// links are the single pictures of a job.
type links []string

// UnmarshalJSON never fails.
func (l *links) UnmarshalJSON(b []byte) error {
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

// parse reads a task.
func parse(body []byte) (s jobState, err error) {
	err = json.Unmarshal(body, &s)
	return s, err
}

// readJob reads the answer of a poll. An answer that is not about the task says
// nothing about it, so it is asked again.
func (d *Driver) readJob(a *post.Answer) (jobState, error) {
	body := strings.TrimSpace(string(a.Body))
	if a.Status == http.StatusNotFound || a.Status == http.StatusOK && (body == "" || body == "null") {
		return jobState{}, media.Errorf(media.CodeNotFound, "the Midjourney proxy does not know the job: it may have been restarted, or keeps jobs for a shorter time")
	}
	s, err := parse(a.Body)
	if a.Status != http.StatusOK || err != nil || s.Status == "" {
		return jobState{}, media.Errorf(media.CodeUnavailable, "the Midjourney proxy answered a poll with status %d and no task: it is asked again; check MIDJOURNEY_PROXY_URL and MIDJOURNEY_API_SECRET", a.Status)
	}
	return s, nil
}

// update tells how a job stands.
func (d *Driver) update(ctx context.Context, t generate.Task, s jobState) (generate.Update, error) {
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
		u.Done, u.Usage = false, generate.Usage{}
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
func (d *Driver) items(ctx context.Context, t generate.Task, s jobState) ([]generate.Item, error) {
	it := generate.Item{RevisedPrompt: media.Scrub(s.words()), Metadata: map[string]any{"midjourney": s.parent()}, Seed: cmp.Or(s.Seed.Int(), t.Seed)}
	if t.Model.Modality == media.ModalityDocument {
		return d.description(ctx, s, it)
	}
	if len(s.Singles) > 1 {
		var items []generate.Item
		for i, link := range s.Singles {
			one := it
			one.URL, one.Metadata = link, map[string]any{"midjourney": s.parent(), "tile": i + 1}
			items = append(items, one)
		}
		return items, nil
	}
	it.URL = cmp.Or(append(s.Singles, string(s.ImageURL))...)
	if it.URL == "" {
		it.Err = media.Errorf(media.CodeBadResponse, "the Midjourney proxy says that the job succeeded and gives no picture: look at its task list")
		return post.Each(t, it), nil
	}
	if s.parent().grid() {
		it.Tiles = &generate.Tiles{Columns: 2, Rows: 2}
	}
	return []generate.Item{it}, nil
}

// words is the prompt that drew the picture.
func (s jobState) words() string {
	return string(cmp.Or(s.Properties.FinalPrompt, s.Prompt))
}

// parent is what a follow-up needs to know of the job.
func (s jobState) parent() parent {
	return parent{
		TaskID: media.Scrub(string(s.ID)), Hash: media.Scrub(string(s.Properties.MessageHash)), Action: media.Scrub(string(s.Action)),
		Mode: media.Scrub(string(s.Mode)), Buttons: s.Buttons,
	}
}

// description keeps the prompts that describe a picture as a text.
func (d *Driver) description(ctx context.Context, s jobState, it generate.Item) ([]generate.Item, error) {
	text := strings.TrimSpace(media.Scrub(s.words()))
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
