package sim

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
)

// Answer is one answer of a provider. It is an [http.Handler] that returns the same answer to every
// call. The zero value is no answer: see [Script].
type Answer struct {
	// Status is the HTTP status; 0 means 200.
	Status int
	// Header is set in addition to the content type.
	Header map[string]string
	// Type is the content type; empty means application/json.
	Type string
	// Body is a string, which is sent as it is, or a value, which is sent as JSON; nil sends nothing.
	Body any
}

// none reports whether the answer is the zero value.
func (a Answer) none() bool { return a.Status == 0 && a.Body == nil }

// Write sends the answer.
func (a Answer) Write(w http.ResponseWriter) {
	for name, value := range a.Header {
		w.Header().Set(name, value)
	}
	switch {
	case a.Type != "":
		w.Header().Set("Content-Type", a.Type)
	case a.Body != nil:
		w.Header().Set("Content-Type", "application/json")
	}
	if a.Status != 0 {
		w.WriteHeader(a.Status)
	}
	switch body := a.Body.(type) {
	case nil:
	case string:
		_, _ = io.WriteString(w, body)
	default:
		_ = json.NewEncoder(w).Encode(body)
	}
}

// ServeHTTP sends the answer.
func (a Answer) ServeHTTP(w http.ResponseWriter, _ *http.Request) { a.Write(w) }

// JSON sends a value as JSON with a status.
func JSON(w http.ResponseWriter, status int, v any) { Answer{Status: status, Body: v}.Write(w) }

// Half sends the header of a complete answer and the first half of its body, then breaks the connection.
func Half(w http.ResponseWriter, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	cut(w, body[:len(body)/2])
}

// cut sends b and breaks the connection.
func cut(w http.ResponseWriter, b []byte) {
	_, _ = w.Write(b)
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// HalfJSON is [Half] for a value as JSON.
func HalfJSON(w http.ResponseWriter, v any) {
	b, _ := json.Marshal(v) // only strings and numbers
	Half(w, "application/json", b)
}

// HTML returns an HTML page, as from a proxy, with a status.
func HTML(status int) Answer {
	return Answer{Status: status, Type: "text/html; charset=utf-8", Body: Page}
}

// RetryAfter returns the header for the wait that the fault names, in whole seconds; nil if it names none.
func RetryAfter(f Injection) map[string]string {
	if f.RetryAfter <= 0 {
		return nil
	}
	return map[string]string{"Retry-After": strconv.Itoa(int(math.Ceil(f.RetryAfter.Seconds())))}
}

// Events writes an answer as server-sent events.
type Events struct{ w http.ResponseWriter }

// NewEvents starts the answer.
func NewEvents(w http.ResponseWriter) Events {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	return Events{w}
}

// Send writes one event and flushes it; an empty kind is omitted.
func (e Events) Send(kind, data string) {
	_, _ = io.WriteString(e.w, event(kind, data))
	_ = http.NewResponseController(e.w).Flush()
}

// Cut sends the first half of an event and breaks the connection.
func (e Events) Cut(kind, data string) {
	whole := event(kind, data)
	cut(e.w, []byte(whole[:len(whole)/2]))
}

func event(kind, data string) string {
	var b strings.Builder
	if kind != "" {
		fmt.Fprintf(&b, "event: %s\n", kind)
	}
	fmt.Fprintf(&b, "data: %s\n\n", data)
	return b.String()
}
