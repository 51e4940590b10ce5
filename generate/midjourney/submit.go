package midjourney

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"atelier/generate"
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

// submitted is the answer to a submission.
type submitted struct {
	Code        int        `json:"code"`
	Description string     `json:"description"`
	Result      post.Text  `json:"result"`
	Properties  properties `json:"properties"`
}

// properties is what stands beside an answer or a job. Proxies put null or a text in the
// place of the object: then it is empty.
type properties struct {
	// FinalPrompt is the prompt that is drawn, or that a window shows, flags included.
	FinalPrompt post.Text `json:"finalPrompt"`
	MessageHash post.Text `json:"messageHash"`
	BannedWord  post.Text `json:"bannedWord"`
}

// UnmarshalJSON never fails.
func (p *properties) UnmarshalJSON(b []byte) error {
	type plain properties
	var have plain
	if json.Unmarshal(b, &have) == nil {
		*p = properties(have)
	}
	return nil
}

// submit hands something in; the update names a task, or is a banned word.
func (d *Driver) submit(ctx context.Context, t generate.Task, path string, body post.Body, got *submitted) (generate.Update, error) {
	call := post.Call{Path: path, Body: body, Of: t.Model.Name, Task: t, Into: got}
	call.Read = func(a *post.Answer) (generate.Update, error) {
		switch got.Code {
		case codeAccepted, codeQueued, codeExists:
			if got.Result == "" {
				return generate.Update{}, d.client.Unnamed()
			}
			return generate.Update{Task: generate.Handle{ID: string(got.Result)}, Usage: generate.Usage{Calls: 1}}, nil
		}
		return d.client.Refuse(call, a, got.fault(a.Status))
	}
	return d.client.Do(ctx, call)
}

// explain reads an error answer; without the protocol's envelope its status may tell.
func explain(a *post.Answer) (post.Fault, bool) {
	var got submitted
	if json.Unmarshal(a.Body, &got) == nil && got.Code != 0 {
		return got.fault(a.Status), true
	}
	return post.Fault{Words: string(a.Body)}, a.Status >= http.StatusUnauthorized && a.Status <= http.StatusNotFound || a.Status == http.StatusTooManyRequests
}

// fault says what a refused submission means: in all of them no job was started, as far as
// the code is known.
func (s submitted) fault(status int) post.Fault {
	f := post.Fault{Words: s.Description}
	switch {
	case s.Code == codeBanned:
		f.Blocked = &generate.Safety{Stage: "input", Categories: []string{"banned word"}}
		f.Words, f.Advice = cmp.Or(string(s.Properties.BannedWord), s.Description), "change a word of the prompt"
	case status == http.StatusUnauthorized || status == http.StatusPaymentRequired || status == http.StatusTooManyRequests:
	case strings.Contains(strings.ToLower(s.Description), "quota"):
		f.Code = media.CodeQuotaExceeded
	case s.Code == codeFull || s.Code == codeBusy:
		f.Code = media.CodeRateLimited
	case s.Code == codeNotFound:
		f.Code, f.Advice = media.CodeNotFound, "the job that made this picture is gone, make a new one"
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
