package midjourney

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/internal/post"
	"atelier/media"
)

// The result codes of a submission.
const (
	codeAccepted = 1
	codeNotFound = 3
	codeInvalid  = 4
	codeFailed   = 9
	codeExists   = 21
	codeQueued   = 22
	codeFull     = 23
	codeBanned   = 24
	codeBusy     = 30 // used by resellers: the group's load is full
)

type submitted struct {
	Code        int        `json:"code"`
	Description string     `json:"description"`
	Result      post.Text  `json:"result"`
	Properties  properties `json:"properties"`
}

// submit submits a job to an endpoint with the speed ("fast") that the task names; the update names the job, or is a
// refusal for a banned word.
func (d *Driver) submit(ctx context.Context, t driver.Task, endpoint string, body post.Body) (got submitted, u driver.Update, err error) {
	path := "/mj/submit/" + endpoint
	if speed := t.Option("speed"); speed != "" {
		path = "/mj-" + speed + path
	}
	call := post.Call{Path: path, Body: body, Of: t.Model.Name, Task: t, Into: &got}
	if body["taskId"] != nil {
		call.Of = "the job that made this picture"
	}
	call.Read = func(a *post.Answer) (driver.Update, error) {
		switch got.Code {
		case codeAccepted, codeQueued, codeExists:
			if got.Result == "" {
				return driver.Update{}, d.client.MissingTaskID()
			}
			return driver.Update{Task: driver.Handle{ID: string(got.Result)}, Usage: generate.Usage{Calls: 1}}, nil
		}
		return d.client.Refuse(call, a, got.fault(a.Status))
	}
	u, err = d.client.Do(ctx, call)
	return got, u, err
}

// envelope decodes an answer of the protocol itself; ok is false for answers of servers in front of the proxy.
func envelope(a *post.Answer) (got submitted, ok bool) {
	return got, post.DecodeFirst(a.Body, &got) && got.Code != 0
}

// explain reads an error answer; without the protocol's envelope it falls back to the status.
func explain(a *post.Answer) (post.Fault, bool) {
	if got, ok := envelope(a); ok {
		return got.fault(a.Status), true
	}
	return post.Fault{Words: string(a.Body)}, a.Status >= http.StatusUnauthorized && a.Status <= http.StatusNotFound || a.Status == http.StatusTooManyRequests
}

// fault converts a refused submission: as far as the code is known, no job was started.
func (s submitted) fault(status int) post.Fault {
	f := post.Fault{Words: s.Description}
	switch {
	case s.Code == codeBanned:
		f.Blocked = &generate.Safety{Stage: "input", Categories: []string{"banned_words"}}
		f.Words, f.Advice = cmp.Or(string(s.Properties.BannedWord), s.Description), "change a word of the prompt"
	case status == http.StatusUnauthorized || status == http.StatusPaymentRequired || status == http.StatusTooManyRequests:
	case strings.Contains(strings.ToLower(s.Description), "quota"):
		f.Code = media.CodeQuotaExceeded
	case status == http.StatusForbidden:
	case s.Code == codeFull || s.Code == codeBusy:
		f.Code = media.CodeRateLimited
	case s.Code == codeNotFound:
		f.Code, f.Advice = media.CodeNotFound, "make a new one"
	case s.Code == codeInvalid:
		f.Code = media.CodeInvalid
	case s.Code == codeFailed && status < http.StatusInternalServerError && s.Result == "":
		f.Code, f.Idle = media.CodeUnavailable, true
	default:
		f.Code, f.Started = media.CodeUnavailable, true
		f.Words = strings.TrimSpace(fmt.Sprintf("code %d %s", s.Code, s.Description))
	}
	return f
}

func jobPath(h driver.Handle) string { return "/mj/task/" + url.PathEscape(h.ID) }

// get requests the state of jobs. Answers that refuse the caller are errors; the others are returned as they are.
func (d *Driver) get(ctx context.Context, path, of string) (*post.Answer, error) {
	if err := d.Ready(); err != nil {
		return nil, err
	}
	a, err := d.client.Get(ctx, path)
	if err == nil && slices.Contains([]int{http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests}, a.Status) {
		f, _ := explain(a)
		_, err = d.client.Refuse(post.Call{Of: of}, a, f)
	}
	return a, err
}

// Poll returns the state of the job. An answer that is not about the job says nothing about it: media.CodeUnavailable.
func (d *Driver) Poll(ctx context.Context, t driver.Task, h driver.Handle) (driver.Update, error) {
	a, err := d.get(ctx, jobPath(h)+"/fetch", "the job")
	if err != nil {
		return driver.Update{}, err
	}
	body := strings.TrimSpace(string(a.Body))
	if a.Status == http.StatusNotFound || a.Status == http.StatusOK && (body == "" || body == "null") {
		return driver.Update{}, media.Errorf(media.CodeNotFound, "the Midjourney proxy does not know the job: it may have been restarted, or keeps jobs for a shorter time")
	}
	var got report
	if !post.DecodeFirst(a.Body, &got) || a.Status != http.StatusOK || got.Status == "" {
		return driver.Update{}, media.Errorf(media.CodeUnavailable, "the Midjourney proxy answered a poll with status %d and no task: it is polled again; check MIDJOURNEY_PROXY_URL", a.Status)
	}
	return d.update(t, h, got), nil
}

// Cancel asks the proxy to stop the job. Finished or unknown jobs are not an error; a proxy without such a path, like
// the older one, returns media.CodeUnsupported.
func (d *Driver) Cancel(ctx context.Context, h driver.Handle) error {
	a, err := d.client.Send(ctx, jobPath(h)+"/cancel", struct{}{})
	if err != nil {
		return err
	}
	_, spoken := envelope(a)
	switch s := a.Status; {
	case !spoken && (s == http.StatusNotFound || s == http.StatusMethodNotAllowed):
		return media.Errorf(media.CodeUnsupported, "this Midjourney proxy has no way to stop a job")
	case s >= http.StatusInternalServerError || s >= http.StatusMultipleChoices && !spoken ||
		s == http.StatusUnauthorized || s == http.StatusForbidden || s == http.StatusTooManyRequests:
		return media.Errorf(media.CodeUnavailable, "the Midjourney proxy answered %d to a cancellation: the job may continue", s)
	}
	return nil
}

// Notification returns the job that a webhook call is about. The call is not signed, so nothing else in it is trusted.
func (d *Driver) Notification(_ context.Context, n driver.Notification) (driver.Update, error) {
	var got report
	h, _, err := d.client.DecodeWebhook(n, &got, func() string { return string(got.ID) })
	return driver.Update{Task: h, Progress: -1}, err
}

// ListsKeys returns true: a job's state field returns the key.
func (d *Driver) ListsKeys() bool { return true }

// List returns the jobs that the proxy lists. Some proxies keep all jobs for a month; some list a hundred, lose them on
// restart or drop the state. A submission that is being translated or checked is not listed yet. Errors:
// media.CodeNotFound for a proxy without a list; media.CodeUnavailable for an answer that is not a list.
func (d *Driver) List(ctx context.Context, _ string) (l driver.Listing, err error) {
	a, err := d.get(ctx, "/mj/task/list", "the list of jobs")
	if err != nil {
		return l, err
	}
	if a.Status == http.StatusNotFound || a.Status == http.StatusMethodNotAllowed {
		return l, media.Errorf(media.CodeNotFound, "the Midjourney proxy has no list of its jobs")
	}
	var all []struct {
		ID     post.Text `json:"id"`
		Status post.Text `json:"status"`
		State  post.Text `json:"state"` // sent with the submission, if the proxy keeps it
	}
	if err := json.Unmarshal(a.Body, &all); err != nil || a.Status != http.StatusOK {
		return l, media.Errorf(media.CodeUnavailable, "the Midjourney proxy answered with status %d and no list of jobs: it is requested again; check MIDJOURNEY_PROXY_URL", a.Status)
	}
	for _, j := range all { // a job in MODAL waits for its dialog and is not being processed
		l.Tasks = append(l.Tasks, driver.ListedTask{Task: driver.Handle{ID: string(j.ID)}, Key: string(j.State), Waits: j.Status == "MODAL"})
	}
	return l, nil
}
