package midjourney

import (
	"bytes"
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
// stands beside the words, so those are read one by one.
type jobState struct {
	ID          anyText         `json:"id"`
	Action      anyText         `json:"action"`
	Status      anyText         `json:"status"`
	Mode        anyText         `json:"mode"`
	Progress    anyText         `json:"progress"`
	Prompt      anyText         `json:"prompt"`
	ImageURL    anyText         `json:"imageUrl"`
	FailReason  anyText         `json:"failReason"`
	Seed        anyText         `json:"seed"`
	RawButtons  json.RawMessage `json:"buttons"`
	RawSingles  json.RawMessage `json:"imageUrls"`
	RawProperty json.RawMessage `json:"properties"`

	buttons []button
	singles []string
	final   string
	hash    string
}

// The bounds of what is kept of a task's buttons; real ones stay far below.
const (
	maxButtons = 40
	maxButton  = 200
)

// parse reads a task and what lies in it.
func parse(body []byte) (jobState, error) {
	var s jobState
	if err := json.Unmarshal(body, &s); err != nil {
		return s, err
	}
	var buttons []struct {
		CustomID anyText `json:"customId"`
		Label    anyText `json:"label"`
		Emoji    anyText `json:"emoji"`
	}
	if json.Unmarshal(s.RawButtons, &buttons) == nil {
		for _, b := range buttons {
			label := string(b.Label)
			if label == "" {
				label = string(b.Emoji)
			}
			if b.CustomID != "" && len(b.CustomID)+len(label) <= maxButton && len(s.buttons) < maxButtons {
				s.buttons = append(s.buttons, button{media.Scrub(string(b.CustomID)), media.Scrub(label)})
			}
		}
	}
	var singles []struct {
		URL anyText `json:"url"`
	}
	if json.Unmarshal(s.RawSingles, &singles) == nil {
		for _, u := range singles {
			if u.URL != "" {
				s.singles = append(s.singles, string(u.URL))
			}
		}
	}
	var p struct {
		Final anyText `json:"finalPrompt"`
		Hash  anyText `json:"messageHash"`
	}
	if json.Unmarshal(s.RawProperty, &p) == nil {
		s.final, s.hash = string(p.Final), string(p.Hash)
	}
	return s, nil
}

// readJob reads the answer of a poll. An answer that is not about the task says
// nothing about it, so it is asked again.
func (d *Driver) readJob(a *post.Answer) (jobState, error) {
	body := bytes.TrimSpace(a.Body)
	again := func(format string, args ...any) (jobState, error) {
		e := media.Errorf(media.CodeUnavailable, format, args...)
		e.Retryable = true
		return jobState{}, e
	}
	switch {
	case a.Status == http.StatusNotFound, a.Status == http.StatusOK && (len(body) == 0 || string(body) == "null"):
		return jobState{}, media.Errorf(media.CodeNotFound, "the Midjourney proxy does not know the job: it may have been restarted, or keeps jobs for a shorter time")
	case a.Status == http.StatusUnauthorized:
		return again("the Midjourney proxy refuses the secret while the job runs: check MIDJOURNEY_API_SECRET")
	case a.Status != http.StatusOK:
		return again("the Midjourney proxy answered %d to a poll: it is asked again", a.Status)
	}
	s, err := parse(body)
	if err != nil || s.Status == "" {
		return again("the Midjourney proxy answered a poll with something else than a task: check MIDJOURNEY_PROXY_URL")
	}
	return s, nil
}

// update tells how a job stands.
func (d *Driver) update(ctx context.Context, t generate.Task, s jobState) (generate.Update, error) {
	u := generate.Update{Progress: progress(string(s.Progress))}
	switch s.Status {
	case "SUCCESS":
		u.Done, u.Progress, u.Usage = true, 1, generate.Usage{Calls: 1}
		var err error
		u.Items, err = d.items(ctx, t, s)
		if err != nil {
			return generate.Update{}, err
		}
	case "FAILURE":
		u.Done, u.Usage = true, generate.Usage{Calls: 1}
		u.Items = repeated(t, d.failed(t, string(s.FailReason)))
	case "CANCEL":
		u.Done, u.Usage = true, generate.Usage{Calls: 1}
		u.Items = repeated(t, generate.Item{Err: media.Errorf(media.CodeCancelled, "the job was cancelled at the Midjourney proxy")})
	}
	return u, nil
}

// repeated is a failure as the results that were asked for.
func repeated(t generate.Task, it generate.Item) []generate.Item {
	items := []generate.Item{it}
	for len(items) < t.N {
		items = append(items, it)
	}
	return items
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
	it := generate.Item{RevisedPrompt: media.Scrub(s.words()), Metadata: map[string]any{"midjourney": s.parent()}}
	if seed, err := strconv.ParseInt(string(s.Seed), 10, 64); err == nil {
		it.Seed = &seed
	} else if t.Seed != nil {
		it.Seed = t.Seed
	}
	if t.Model.Modality == media.ModalityDocument {
		return d.description(ctx, s, it)
	}
	if len(s.singles) > 1 {
		var items []generate.Item
		for i, link := range s.singles {
			one := it
			one.URL, one.Metadata = link, map[string]any{"midjourney": s.parent(), "tile": i + 1}
			items = append(items, one)
		}
		return items, nil
	}
	it.URL = string(s.ImageURL)
	if len(s.singles) == 1 {
		it.URL = s.singles[0]
	}
	if it.URL == "" {
		it.Err = media.Errorf(media.CodeBadResponse, "the Midjourney proxy says that the job succeeded and gives no picture: look at its task list")
		return repeated(t, it), nil
	}
	if s.parent().grid() {
		it.Tiles = &generate.Tiles{Columns: 2, Rows: 2}
	}
	return []generate.Item{it}, nil
}

// words is the prompt that drew the picture.
func (s jobState) words() string {
	if s.final != "" {
		return s.final
	}
	return string(s.Prompt)
}

// parent is what a follow-up needs to know of the job.
func (s jobState) parent() parent {
	return parent{
		TaskID: media.Scrub(string(s.ID)), Hash: media.Scrub(s.hash), Action: media.Scrub(string(s.Action)),
		Mode: media.Scrub(string(s.Mode)), Buttons: s.buttons,
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
