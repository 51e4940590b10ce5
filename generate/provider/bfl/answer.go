package bfl

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/internal/post"
	"atelier/internal/patience"
	"atelier/media"
)

// accepted is the answer to a new task. With a webhook it may have no polling URL. Costs are in cents; all numbers may
// be null.
type accepted struct {
	ID         string    `json:"id"`
	PollingURL string    `json:"polling_url"`
	Cost       post.Text `json:"cost"`
	InputMP    *float64  `json:"input_mp"`
	OutputMP   *float64  `json:"output_mp"`
}

// result is the state of a task, as returned by polls and webhooks.
type result struct {
	ID       string          `json:"id"`
	Status   string          `json:"status"`
	Result   *made           `json:"result"`
	Progress *float64        `json:"progress"`
	Details  json.RawMessage `json:"details"`
	// Message and Error are set if a task failed.
	Message post.Text `json:"message"`
	Error   post.Text `json:"error"`
}

// made is the picture of a finished task. The prompt is the one that the model used, which may differ from the
// request's.
type made struct {
	Sample string    `json:"sample"`
	Prompt post.Text `json:"prompt"`
	Seed   post.Text `json:"seed"`
}

// update converts the state of a task; a status that does not end it means that it continues.
func (d *Driver) update(h driver.Handle, got result) (driver.Update, error) {
	at := post.Status{State: got.Status, Progress: -1, Reason: string(cmp.Or(got.Message, got.Error))}
	at.Items = func() []driver.Item {
		m := cmp.Or(got.Result, &made{})
		it := d.client.Link(m.Sample)
		it.RevisedPrompt, it.Seed = string(m.Prompt), m.Seed.Int()
		return []driver.Item{it}
	}
	if p := got.Progress; p != nil && *p >= 0 && *p <= 1 {
		at.Progress = *p
	}
	u := d.client.Update(driver.Task{}, h, at)
	switch got.Status {
	case "Request Moderated":
		u.Items = d.moderated("input", "the prompt or the input picture", got)
	case "Content Moderated":
		u.Items = d.moderated("output", "the picture that it made", got)
	case "Task not found":
		return driver.Update{Task: h}, media.Errorf(media.CodeNotFound,
			"Black Forest Labs does not know the task %s, or no longer: results are kept for a short time only", d.client.Clean(h.ID))
	default:
		return u, nil
	}
	u.Done, u.Progress = true, 1
	return u, nil
}

// moderated returns a refusal with the provider's reasons, if any; their key contains a space. The status says which
// stage refused and is not a reason.
func (d *Driver) moderated(stage, what string, got result) []driver.Item {
	var details struct {
		Reasons []post.Text `json:"Moderation Reasons"`
	}
	_ = json.Unmarshal(got.Details, &details) // they are optional
	var reasons []string
	for _, r := range details.Reasons {
		if s := string(r); s != "" && !slices.Contains(reasons, s) {
			reasons = append(reasons, s)
		}
	}
	return d.client.Moderated(driver.Task{}, generate.Safety{Stage: stage, Categories: reasons},
		"Black Forest Labs refused %s: change the prompt (%s)", what, d.client.Clean(strings.Join(append([]string{got.Status}, reasons...), ", ")))
}

// problem is an error answer: detail is a string, a list of fields or an object; newer parts of the API use message and
// error.
type problem struct {
	Detail     json.RawMessage `json:"detail"`
	Message    post.Text       `json:"message"`
	Error      post.Text       `json:"error"`
	RetryAfter post.Text       `json:"retry_after"`
}

// explain reads an error answer. Its text follows the API's order of precedence, and does not repeat the request's
// content.
func explain(a *post.Answer) (post.Fault, bool) {
	var p problem
	if !post.DecodeFirst(a.Body, &p) {
		return post.Fault{}, false
	}
	seconds, _ := strconv.ParseFloat(string(p.RetryAfter), 64) // it is optional
	f := post.Fault{Wait: patience.Seconds(seconds)}
	var fields []struct {
		Loc []any     `json:"loc"`
		Msg post.Text `json:"msg"`
	}
	if json.Unmarshal(p.Detail, &fields) == nil && len(fields) > 0 {
		var list []string
		for _, one := range fields {
			name := ""
			if n := len(one.Loc); n > 0 {
				name = fmt.Sprint(one.Loc[n-1])
			}
			list = append(list, strings.TrimSpace(name+" "+string(one.Msg)))
		}
		f.Words = strings.Join(list, "; ")
		return f, true
	}
	var plain post.Text
	var object problem
	_, _ = json.Unmarshal(p.Detail, &plain), json.Unmarshal(p.Detail, &object) // one of them, or neither
	f.Words = string(cmp.Or(plain, object.Message, object.Error, p.Message, p.Error))
	return f, true
}
