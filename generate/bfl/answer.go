package bfl

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"atelier/generate"
	"atelier/generate/internal/post"
	"atelier/media"
)

// accepted is the answer to a new task. With a webhook it may have no polling URL.
// Costs are cents; all numbers may be null.
type accepted struct {
	ID         string   `json:"id"`
	PollingURL string   `json:"polling_url"`
	Cost       *float64 `json:"cost"`
	InputMP    *float64 `json:"input_mp"`
	OutputMP   *float64 `json:"output_mp"`
}

// result is the state of a task, as polls and webhooks tell it.
type result struct {
	ID       string          `json:"id"`
	Status   string          `json:"status"`
	Result   *made           `json:"result"`
	Progress *float64        `json:"progress"`
	Details  json.RawMessage `json:"details"`
	// Message and Error are there where a task failed.
	Message text `json:"message"`
	Error   text `json:"error"`
}

// made is what a finished task made.
type made struct {
	Sample string       `json:"sample"`
	Prompt text         `json:"prompt"`
	Seed   *json.Number `json:"seed"`
}

// text reads a JSON string; anything else is empty.
type text string

// UnmarshalJSON never fails: what is no string says nothing.
func (t *text) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		*t = text(s)
	}
	return nil
}

// submitted reads the answer to a new task.
func (d *Driver) submitted(ctx context.Context, a *post.Answer) (generate.Update, error) {
	var got accepted
	if err := d.client.Decode(a, &got); err != nil {
		return generate.Update{}, err
	}
	if a.Cut() {
		return generate.Update{}, d.client.Lost(ctx, a.Broken, 0)
	}
	if got.ID == "" {
		e := media.Errorf(media.CodeBadResponse, "Black Forest Labs took the request and named no task: it may be billed, so it is not repeated")
		e.Cause = generate.ErrUnsettled
		return generate.Update{}, e
	}
	u := generate.Update{Task: generate.Handle{ID: got.ID, URL: got.PollingURL}, ReportedUSD: dollars(got.Cost)}
	for name, value := range map[string]*float64{"input_mp": got.InputMP, "output_mp": got.OutputMP} {
		if value == nil {
			continue
		}
		if u.Metadata == nil {
			u.Metadata = map[string]any{}
		}
		u.Metadata[name] = *value
	}
	return u, nil
}

// dollars turns cents with floating-point noise into decimal dollars, to a ten
// thousandth of a cent; empty if there are none.
func dollars(cents *float64) string {
	const most = 1e6 // nobody is billed ten thousand dollars for a picture
	if cents == nil || *cents < 0 || *cents > most {
		return ""
	}
	s := strconv.FormatFloat(*cents/100, 'f', 6, 64)
	return strings.TrimRight(strings.TrimRight(s, "0"), ".")
}

// The states that mean something; all others mean that the task goes on.
const (
	stateReady   = "Ready"
	stateInput   = "Request Moderated"
	stateOutput  = "Content Moderated"
	stateError   = "Error"
	stateFailed  = "Failed"
	stateUnknown = "Task not found"
)

// update reads the state of a task.
func (d *Driver) update(h generate.Handle, got result) (generate.Update, error) {
	u := generate.Update{Task: h, Done: true, Progress: 1}
	switch got.Status {
	case stateReady:
		u.Items = []generate.Item{d.item(got.Result)}
	case stateInput:
		u.Items = []generate.Item{d.moderated("input", got)}
	case stateOutput:
		u.Items = []generate.Item{d.moderated("output", got)}
	case stateError, stateFailed:
		e := media.Errorf(media.CodeUnavailable, "Black Forest Labs could not finish the task%s: ask again", d.said(got))
		e.Retryable = false
		u.Items = []generate.Item{{Err: e}}
	case stateUnknown:
		return generate.Update{Task: h}, media.Errorf(media.CodeNotFound,
			"Black Forest Labs does not know the task %s, or no longer: results are kept for a short time only", d.client.Clean(h.ID))
	default:
		u.Done, u.Progress = false, -1
		if p := got.Progress; p != nil && *p >= 0 && *p <= 1 {
			u.Progress = *p
		}
	}
	return u, nil
}

// item names the picture of a finished task. The prompt comes back as the model read
// it, which is not always as it was written.
func (d *Driver) item(m *made) generate.Item {
	if m == nil || m.Sample == "" {
		return generate.Item{Err: media.Errorf(media.CodeBadResponse, "Black Forest Labs finished the task without a picture: try other words, or another model")}
	}
	it := generate.Item{URL: m.Sample, RevisedPrompt: media.Scrub(string(m.Prompt))}
	if m.Seed != nil {
		if seed, err := m.Seed.Int64(); err == nil {
			it.Seed = &seed
		}
	}
	return it
}

// moderated is a refusal with the provider's reasons.
func (d *Driver) moderated(stage string, got result) generate.Item {
	reasons := d.reasons(got.Details)
	what := "the prompt or the input picture"
	if stage == "output" {
		what = "the picture that it made"
	}
	note := got.Status
	if len(reasons) > 0 {
		note += ": " + strings.Join(reasons, ", ")
	}
	return generate.Item{
		Err:    media.Errorf(media.CodeModerated, "Black Forest Labs refused %s: change the prompt (%s)", what, note),
		Safety: &generate.Safety{Blocked: true, Stage: stage, Categories: append([]string{got.Status}, reasons...)},
	}
}

// reasons lists what details name as reasons; the key is spelled with a blank.
func (d *Driver) reasons(details json.RawMessage) []string {
	var known struct {
		Reasons []text `json:"Moderation Reasons"`
	}
	if json.Unmarshal(details, &known) != nil {
		return nil
	}
	var list []string
	for _, r := range known.Reasons {
		if s := d.client.Clean(string(r)); s != "" && !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

// said is what a failed task says about itself, in brackets.
func (d *Driver) said(got result) string {
	for _, s := range []text{got.Message, got.Error} {
		if s != "" {
			return fmt.Sprintf(" (%s)", d.client.Clean(string(s)))
		}
	}
	return ""
}
