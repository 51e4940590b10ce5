package proxy

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/internal/post"
	"atelier/media"
)

// The codes of a submission.
const (
	codeAccepted = 1
	codeNotFound = 3
	codeInvalid  = 4
	codeFailed   = 9
	codeExists   = 21
	codeQueued   = 22
	codeFull     = 23
	codeBanned   = 24
	codeBusy     = 30 // of resellers: the group's load is full
)

// Submission is something that is handed in.
type Submission struct {
	// Task is what it is for, Speed the way to a speed ("fast") or empty, Path the endpoint.
	Task        driver.Task
	Speed, Path string
	Body        post.Body
}

// Submitted is the answer to a submission.
type Submitted struct {
	Code        int                    `json:"code"`
	Description string                 `json:"description"`
	Result      post.Text              `json:"result"`
	Properties  post.Loose[Properties] `json:"properties"`
}

// Exists says that the job is there already, or waits for a window to be confirmed.
func (s Submitted) Exists() bool { return s.Code == codeExists }

// Submit hands something in; the update names a job, or is a banned word.
func (c *Client) Submit(ctx context.Context, s Submission) (got Submitted, u driver.Update, err error) {
	path := "/mj/submit/" + s.Path
	if s.Speed != "" {
		path = "/mj-" + s.Speed + path
	}
	call := post.Call{Path: path, Body: s.Body, Of: s.Task.Model.Name, Task: s.Task, Into: &got}
	if s.Body["taskId"] != nil {
		call.Of = "the job that made this picture"
	}
	call.Read = func(a *post.Answer) (driver.Update, error) {
		switch got.Code {
		case codeAccepted, codeQueued, codeExists:
			if got.Result == "" {
				return driver.Update{}, c.Unnamed()
			}
			return driver.Update{Task: driver.Handle{ID: string(got.Result)}, Usage: generate.Usage{Calls: 1}}, nil
		}
		return c.Refuse(call, a, got.fault(a.Status))
	}
	u, err = c.Do(ctx, call)
	return got, u, err
}

// envelope reads the answer of the protocol itself, which what stands before it does not speak.
func envelope(a *post.Answer) (got Submitted, ok bool) {
	err := json.Unmarshal(a.Body, &got)
	return got, err == nil && got.Code != 0
}

// explain reads an error answer; without the protocol's envelope its status may tell.
func explain(a *post.Answer) (post.Fault, bool) {
	if got, ok := envelope(a); ok {
		return got.fault(a.Status), true
	}
	return post.Fault{Words: string(a.Body)}, a.Status >= http.StatusUnauthorized && a.Status <= http.StatusNotFound || a.Status == http.StatusTooManyRequests
}

// fault says what a refused submission means: in all of them no job was started, as far as
// the code is known.
func (s Submitted) fault(status int) post.Fault {
	f := post.Fault{Words: s.Description}
	switch {
	case s.Code == codeBanned:
		f.Blocked = &generate.Safety{Stage: "input", Categories: []string{"banned_words"}}
		f.Words, f.Advice = cmp.Or(string(s.Properties.Value.BannedWord), s.Description), "change a word of the prompt"
	case status == http.StatusUnauthorized || status == http.StatusPaymentRequired || status == http.StatusTooManyRequests:
	case strings.Contains(strings.ToLower(s.Description), "quota"):
		f.Code = media.CodeQuotaExceeded
	case s.Code == codeFull || s.Code == codeBusy:
		f.Code = media.CodeRateLimited
	case s.Code == codeNotFound:
		f.Code, f.Advice = media.CodeNotFound, "make a new one"
	case s.Code == codeInvalid:
		f.Code = media.CodeInvalid
	case s.Code == codeFailed && status < http.StatusInternalServerError && s.Result == "":
		f.Code, f.Idle = media.CodeUnavailable, true
	default:
		f.Code, f.Ran = media.CodeUnavailable, true
		f.Words = strings.TrimSpace(fmt.Sprintf("code %d %s", s.Code, s.Description))
	}
	return f
}
