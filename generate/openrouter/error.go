package openrouter

import (
	"encoding/json"
	"net/http"
	"strconv"

	"atelier/generate"
	"atelier/generate/internal/post"
)

// apiError is the inside of OpenRouter's envelope. Its code is an HTTP status; upstream
// errors that are passed through can have a word there.
type apiError struct {
	Message  string    `json:"message"`
	Code     post.Text `json:"code"`
	Metadata struct {
		Reasons []string          `json:"reasons"`
		Raw     any               `json:"raw"`
		Headers map[string]string `json:"headers"`
	} `json:"metadata"`
}

// explain reads an error answer.
func explain(a *post.Answer) (post.Fault, bool) {
	var envelope struct {
		Error *apiError `json:"error"`
	}
	if err := json.Unmarshal(a.Body, &envelope); err != nil || envelope.Error == nil {
		return post.Fault{}, false
	}
	return envelope.Error.fault(a), true
}

// fault says what an error means, of its own or inside of a success. There a model was
// run, so only a rate limit is repeated.
func (e *apiError) fault(a *post.Answer) post.Fault {
	f := post.Fault{Status: a.Status, Words: e.Message, Quoted: http.Header{}, Ran: a.Status == http.StatusOK}
	if raw, ok := e.Metadata.Raw.(string); ok && raw != "" {
		f.Words += ": " + raw
	}
	if n, err := strconv.Atoi(string(e.Code)); err == nil && n >= 400 && n < 600 {
		f.Status = n
	}
	for name, value := range e.Metadata.Headers {
		f.Quoted.Set(name, value)
	}
	if len(e.Metadata.Reasons) > 0 {
		f.Blocked = &generate.Safety{Stage: "input", Categories: e.Metadata.Reasons}
	}
	return f
}
