// Package chattest provides a conformance test suite for chat models and a simulator of chat services with real HTTP
// and JSON. The simulator implements OpenAI's chat completions and Responses, Anthropic, Gemini and Bedrock Converse,
// and fails as each service does; see [Services]. The package imports testing and is only for tests.
package chattest

import (
	"encoding/base64"
	"io"
	"net/http"
	"strconv"
	"sync"

	"atelier/internal/sim"
)

// Fault is a failure of the service on the next request.
type Fault = sim.Fault

// The faults, with the bodies that the public service sends.
const (
	FaultNone                = Fault("")
	FaultBadKey              = sim.FaultUnauthorized
	FaultForbidden           = sim.FaultForbidden
	FaultNoModel             = sim.FaultDeadModel
	FaultContextLength Fault = "context_length"
	FaultRateLimit           = sim.FaultRateLimit
	FaultQuota               = sim.FaultQuota
	FaultServer              = sim.FaultServerError
	FaultHTML                = sim.FaultHTML
	FaultHalfBody            = sim.FaultHalfBody
	FaultEcho          Fault = "echo"        // status 400 with the request's media in the message
	FaultHang                = sim.FaultSlow // never responds
)

// Simulator is a chat service that implements every [Dialect]. It responds with status 400 to a body that differs from
// what the service documents. The zero value answers "{}".
type Simulator struct {
	// Key is the accepted credential; empty accepts any.
	Key string
	// Answer returns the text of the answer; nil answers "{}".
	Answer func(Request) string
	// Picture is the picture that the model makes when it is asked to.
	Picture []byte
	// NoStreams disables streaming: the answer comes at once even if a stream is requested, as with some services.
	NoStreams bool
	// Between is called between two events of a streamed answer; nil means no pause.
	Between func()
	// MaxText is the maximum length of the messages in bytes, without the system message. Longer requests get the
	// provider's context-length error. 0 means no limit.
	MaxText int

	journal sim.Journal

	mu       sync.Mutex // guards the fields below
	shapes   []Shape
	requests []Request
}

var _ http.Handler = (*Simulator)(nil)

// Fail makes the next requests fail, one each.
func (s *Simulator) Fail(f ...Fault) {
	for _, fault := range f {
		s.journal.Inject(sim.Injection{Fault: fault})
	}
}

// Requests returns a copy of all received requests, including failed ones.
func (s *Simulator) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// ServeHTTP implements http.Handler.
func (s *Simulator) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	dialect := dialectOf(r.URL.Path)
	if r.Method != http.MethodPost || dialect == "" {
		failure(http.StatusNotFound, "invalid_request_error", "", "Unknown request URL: "+r.Method+" "+r.URL.Path).Write(w)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		failure(http.StatusBadRequest, "invalid_request_error", "", "the body ended early").Write(w)
		return
	}
	req, err := s.read(dialect, r.URL.Path, body)
	req.Bytes, req.ContentLength = int64(len(body)), r.ContentLength
	if err != nil {
		failure(http.StatusBadRequest, "invalid_request_error", "", err.Error()).Write(w)
		return
	}
	fault := s.record(req)
	answer := func(w http.ResponseWriter) { s.answer(w, r, req, fault, body) }
	if !s.NoStreams && asksForStream(r.URL.Path, body) {
		s.stream(w, dialect, answer)
		return
	}
	answer(w)
}

// answer responds to a request without streaming.
func (s *Simulator) answer(w http.ResponseWriter, r *http.Request, req Request, fault Fault, body []byte) {
	dialect := req.Dialect
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
		script(body).Play(w, &sim.Call{Request: r, Fault: sim.Injection{Fault: fault}})
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
	req, err := parse(d, path, body)
	if err == nil {
		err = contract.CheckJSON(string(d)+".json", body)
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
	return s.journal.Next().Fault
}

// script returns the responses to faults.
func script(body []byte) sim.Script {
	badKey := failure(http.StatusUnauthorized, "invalid_request_error", "invalid_api_key", "Incorrect API key provided: sk-***.")
	badKey.Header = map[string]string{"Www-Authenticate": `Bearer realm="OpenAI API"`}
	rateLimit := failure(http.StatusTooManyRequests, "requests", "rate_limit_exceeded", "Rate limit reached for requests.")
	rateLimit.Header = map[string]string{"Retry-After-Ms": "20"}
	return sim.Script{
		FaultBadKey:    {badKey},
		FaultForbidden: {failure(http.StatusForbidden, "invalid_request_error", "", "Project does not have access to model.")},
		FaultNoModel:   {failure(http.StatusNotFound, "invalid_request_error", "model_not_found", "The model does not exist or you do not have access to it.")},
		FaultContextLength: {failure(http.StatusBadRequest, "invalid_request_error", "context_length_exceeded",
			"This model's maximum context length is 1000 tokens. However, your messages resulted in 2000 tokens.")},
		FaultRateLimit: {rateLimit},
		FaultQuota:     {failure(http.StatusTooManyRequests, "insufficient_quota", "insufficient_quota", "You exceeded your current quota.")},
		FaultServer:    {failure(http.StatusInternalServerError, "server_error", "", "The server had an error while processing your request.")},
		FaultHTML:      {sim.HTML(http.StatusBadGateway)},
		FaultHalfBody: {{
			Header: map[string]string{"Content-Length": "5000"},
			Body:   `{"id":"chatcmpl-1","choices":[{"index":0,"message":{"role":"assistant","content":"half of`,
		}},
		FaultEcho: {failure(http.StatusBadRequest, "invalid_request_error", "", "Invalid image: "+string(body[:min(len(body), 4000)]))},
	}
}

func failure(status int, kind, code, message string) sim.Answer {
	e := map[string]any{"message": message, "type": kind, "param": nil, "code": nil}
	if code != "" {
		e["code"] = code
	}
	return sim.Answer{Status: status, Body: map[string]any{"error": e}}
}

func reply(w http.ResponseWriter, req Request, text string, picture []byte) {
	in := req.Bytes / 4
	for _, m := range req.Messages {
		in += int64(1100 * len(m.Images))
	}
	out := int64(len(text)/4 + 1)
	message := map[string]any{"role": "assistant", "content": text, "refusal": nil}
	if picture != nil { // in the form of OpenRouter
		url := "data:image/png;base64," + base64.StdEncoding.EncodeToString(picture)
		message["images"] = []any{map[string]any{"type": "image_url", "image_url": map[string]any{"url": url}}}
	}
	sim.JSON(w, http.StatusOK, map[string]any{
		"id": "chatcmpl-" + strconv.FormatInt(in, 36), "object": "chat.completion", "created": 1763700000, "model": req.Model,
		"choices": []any{map[string]any{
			"index": 0, "finish_reason": "stop", "logprobs": nil,
			"message": message,
		}},
		"usage": map[string]any{"prompt_tokens": in, "completion_tokens": out, "total_tokens": in + out},
	})
}

// ClearFaults removes the pending faults.
func (s *Simulator) ClearFaults() { s.journal.ClearFaults() }
