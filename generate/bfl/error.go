package bfl

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"atelier/generate/internal/post"
)

// problem is an error answer: detail is a text, a list of fields or an object;
// newer parts of the API say message and error.
type problem struct {
	Detail     json.RawMessage `json:"detail"`
	Message    post.Text       `json:"message"`
	Error      post.Text       `json:"error"`
	RetryAfter post.Text       `json:"retry_after"`
}

// field is one violation of the schema.
type field struct {
	Loc []any     `json:"loc"`
	Msg post.Text `json:"msg"`
}

// explain reads an error answer.
func explain(a *post.Answer) (post.Fault, bool) {
	var p problem
	if json.Unmarshal(a.Body, &p) != nil {
		return post.Fault{}, false
	}
	return post.Fault{Words: p.words(), Wait: post.Seconds(string(p.RetryAfter))}, true
}

// words are what the problem says, in the order in which the API means it. What the
// request held is not repeated.
func (p problem) words() string {
	var fields []field
	if json.Unmarshal(p.Detail, &fields) == nil && len(fields) > 0 {
		var list []string
		for _, f := range fields {
			name := ""
			if n := len(f.Loc); n > 0 {
				name = fmt.Sprint(f.Loc[n-1])
			}
			list = append(list, strings.TrimSpace(name+" "+string(f.Msg)))
		}
		return strings.Join(list, "; ")
	}
	var plain post.Text
	var object problem
	_, _ = json.Unmarshal(p.Detail, &plain), json.Unmarshal(p.Detail, &object) // one of them, or neither
	return string(cmp.Or(plain, object.Message, object.Error, p.Message, p.Error))
}
