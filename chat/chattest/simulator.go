// Package chattest is the conformance suite of chat models and a simulator of chat
// services: real HTTP, real JSON. It speaks OpenAI's chat completions and Responses,
// Anthropic, Gemini and Bedrock Converse, and fails as each service does ([Services]). It is a test double and imports testing; production code never uses it.
package chattest

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"sync"
)

// Fault is one way in which the service fails the next request.
type Fault string

// The faults, with the bodies that the public service sends.
const (
	FaultNone          Fault = ""
	FaultBadKey        Fault = "401"
	FaultForbidden     Fault = "403"
	FaultNoModel       Fault = "404"
	FaultContextLength Fault = "context_length"
	FaultRateLimit     Fault = "429"
	FaultQuota         Fault = "quota"
	FaultServer        Fault = "500"
	FaultHTML          Fault = "html"
	FaultHalfBody      Fault = "half_body"
	FaultEcho          Fault = "echo" // 400 whose message repeats the request's media
	FaultHang          Fault = "hang" // never answers
)

// Simulator is a chat service that speaks every [Dialect]. It answers 400 to a body
// that departs from what the service documents. Its zero value answers "{}".
type Simulator struct {
	// Key is the credential it accepts; empty accepts any.
	Key string
	// Answer gives the text of the answer; nil answers "{}".
	Answer func(Request) string
	// Picture is what the model paints when it is asked to.
	Picture []byte
	// MaxText is how many bytes of text the messages may hold, the system's excepted;
	// more is the provider's context-length error. 0 means no limit.
	MaxText int

	contract contract

	mu       sync.Mutex // guards the rest
	faults   []Fault
	shapes   []Shape
	requests []Request
}

var _ http.Handler = (*Simulator)(nil)

// Fail makes the next requests fail, one each.
func (s *Simulator) Fail(f ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, f...)
}

// Requests copies what was received, failed requests included.
func (s *Simulator) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// ServeHTTP implements http.Handler.
func (s *Simulator) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	dialect := dialectOf(r.URL.Path)
	if r.Method != http.MethodPost || dialect == "" {
		fail(w, http.StatusNotFound, "invalid_request_error", "", "Unknown request URL: "+r.Method+" "+r.URL.Path)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		fail(w, http.StatusBadRequest, "invalid_request_error", "", "the body ended early")
		return
	}
	req, err := s.read(dialect, r.URL.Path, body)
	req.Bytes, req.ContentLength = int64(len(body)), r.ContentLength
	if err != nil {
		fail(w, http.StatusBadRequest, "invalid_request_error", "", err.Error())
		return
	}
	fault := s.record(req)
	if shape, ok := s.next(); ok {
		shape.write(w)
		return
	}
	if s.Key != "" && dialect == DialectOpenAI && r.Header.Get("Authorization") != "Bearer "+s.Key {
		fault = FaultBadKey
	}
	if s.MaxText > 0 && len(req.join("user"))+len(req.join("assistant")) > s.MaxText {
		fault = FaultContextLength
	}
	if fault != FaultNone {
		s.fault(w, r, fault, body)
		return
	}
	text := "{}"
	if s.Answer != nil {
		text = s.Answer(req)
	}
	var picture []byte
	if req.Paints {
		picture = s.Picture
	}
	if dialect != DialectOpenAI {
		replyDialect(w, req, text, picture)
		return
	}
	reply(w, req, text, picture)
}

// read parses a request of a dialect.
func (s *Simulator) read(d Dialect, path string, body []byte) (Request, error) {
	parsed := parse
	if d != DialectOpenAI {
		parsed = func(b []byte) (Request, error) { return parseDialect(d, path, b) }
	}
	req, err := parsed(body)
	if err == nil {
		err = s.contract.check(d, body)
	}
	if err == nil {
		err = consistent(d, req.Messages)
	}
	return req, err
}

func (s *Simulator) record(req Request) Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, req)
	if len(s.faults) == 0 {
		return FaultNone
	}
	f := s.faults[0]
	s.faults = s.faults[1:]
	return f
}

func (s *Simulator) fault(w http.ResponseWriter, r *http.Request, f Fault, body []byte) {
	switch f {
	case FaultBadKey:
		w.Header().Set("Www-Authenticate", `Bearer realm="OpenAI API"`)
		fail(w, http.StatusUnauthorized, "invalid_request_error", "invalid_api_key", "Incorrect API key provided: sk-***.")
	case FaultForbidden:
		fail(w, http.StatusForbidden, "invalid_request_error", "", "Project does not have access to model.")
	case FaultNoModel:
		fail(w, http.StatusNotFound, "invalid_request_error", "model_not_found", "The model does not exist or you do not have access to it.")
	case FaultContextLength:
		fail(w, http.StatusBadRequest, "invalid_request_error", "context_length_exceeded",
			"This model's maximum context length is 1000 tokens. However, your messages resulted in 2000 tokens.")
	case FaultRateLimit:
		w.Header().Set("Retry-After-Ms", "20")
		fail(w, http.StatusTooManyRequests, "requests", "rate_limit_exceeded", "Rate limit reached for requests.")
	case FaultQuota:
		fail(w, http.StatusTooManyRequests, "insufficient_quota", "insufficient_quota", "You exceeded your current quota.")
	case FaultServer:
		fail(w, http.StatusInternalServerError, "server_error", "", "The server had an error while processing your request.")
	case FaultHTML:
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusBadGateway)
		_, _ = io.WriteString(w, "<html><body>Bad gateway</body></html>")
	case FaultHalfBody:
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", "5000")
		_, _ = io.WriteString(w, `{"id":"chatcmpl-1","choices":[{"index":0,"message":{"role":"assistant","content":"half of`)
	case FaultEcho:
		fail(w, http.StatusBadRequest, "invalid_request_error", "", "Invalid image: "+string(body[:min(len(body), 4000)]))
	case FaultHang:
		<-r.Context().Done()
	case FaultNone:
	}
}

func fail(w http.ResponseWriter, status int, kind, code, message string) {
	e := map[string]any{"message": message, "type": kind, "param": nil, "code": nil}
	if code != "" {
		e["code"] = code
	}
	send(w, status, map[string]any{"error": e})
}

func send(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// The client may be gone; nothing to do about it here.
	_ = json.NewEncoder(w).Encode(v)
}

func reply(w http.ResponseWriter, req Request, text string, picture []byte) {
	in := req.Bytes / 4
	for _, m := range req.Messages {
		in += int64(1100 * len(m.Images))
	}
	out := int64(len(text)/4 + 1)
	message := map[string]any{"role": "assistant", "content": text, "refusal": nil}
	if picture != nil { // as OpenRouter gives it
		url := "data:image/png;base64," + base64.StdEncoding.EncodeToString(picture)
		message["images"] = []any{map[string]any{"type": "image_url", "image_url": map[string]any{"url": url}}}
	}
	send(w, http.StatusOK, map[string]any{
		"id": "chatcmpl-" + strconv.FormatInt(in, 36), "object": "chat.completion", "created": 1763700000, "model": req.Model,
		"choices": []any{map[string]any{
			"index": 0, "finish_reason": "stop", "logprobs": nil,
			"message": message,
		}},
		"usage": map[string]any{"prompt_tokens": in, "completion_tokens": out, "total_tokens": in + out},
	})
}

// Calm forgets the faults that are still to come.
func (s *Simulator) Calm() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
}
