// Package chattest is the conformance suite of chat models and a simulator of chat
// services: real HTTP, real JSON. It speaks OpenAI's chat completions with faults, and
// Responses, Anthropic, Gemini and Bedrock Converse where all goes well. It is a test double and imports testing; production code never uses it.
package chattest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
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

// Image is a picture as the service received it.
type Image struct {
	MIMEType string
	Size     int
	// SHA256 is the hexadecimal hash of the decoded bytes.
	SHA256 string
	// Width and Height are in pixels, 0 where the bytes do not tell.
	Width, Height int
	// Detail is what was asked for, in the dialects that have it.
	Detail string

	// found is the type that the bytes have.
	found string
}

// Part is a piece of a message: text, or a picture.
type Part struct {
	Text  string
	Image *Image
}

// Message is one message as the service received it.
type Message struct {
	Role   string
	Text   string
	Images []Image
	// Parts are both in the order in which they came.
	Parts []Part
}

// add puts a piece into the message.
func (m *Message) add(text string, img *Image) {
	m.Text += text
	m.Parts = append(m.Parts, Part{Text: text, Image: img})
	if img != nil {
		m.Images = append(m.Images, *img)
	}
}

// Request is one request as the service received it.
type Request struct {
	Dialect  Dialect
	Model    string
	Messages []Message
	JSONMode bool
	// Paints tells that the request asks for pictures in the answer.
	Paints bool
	// Bytes is the length of the body; ContentLength what the client announced.
	Bytes, ContentLength int64
}

// System gives the text of the system messages.
func (r Request) System() string { return r.join("system") }

func (r Request) join(role string) string {
	var parts []string
	for _, m := range r.Messages {
		if m.Role == role {
			parts = append(parts, m.Text)
		}
	}
	return strings.Join(parts, "\n")
}

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

// parse reads a chat completion request as the service documents it.
func parse(body []byte) (Request, error) {
	var in struct {
		Model    string `json:"model"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		ResponseFormat struct {
			Type string `json:"type"`
		} `json:"response_format"`
		Modalities []string `json:"modalities"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return Request{}, fmt.Errorf("we could not parse the JSON body of your request: %w", err)
	}
	out := Request{Dialect: DialectOpenAI, Model: in.Model, JSONMode: in.ResponseFormat.Type == "json_object", Paints: len(in.Modalities) > 1}
	for _, m := range in.Messages {
		msg, err := parseContent(m.Role, m.Content)
		if err != nil {
			return out, err
		}
		out.Messages = append(out.Messages, msg)
	}
	if out.JSONMode && !strings.Contains(strings.ToLower(out.System()+out.join("user")), "json") {
		return out, fmt.Errorf("'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'")
	}
	return out, nil
}

func parseContent(role string, raw json.RawMessage) (Message, error) {
	msg := Message{Role: role}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		msg.add(text, nil)
		return msg, nil
	}
	var parts []struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		ImageURL struct {
			URL    string `json:"url"`
			Detail string `json:"detail"`
		} `json:"image_url"`
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		return msg, fmt.Errorf("invalid type for 'messages.content': %w", err)
	}
	for _, p := range parts {
		switch p.Type {
		case "text":
			msg.add(p.Text, nil)
		case "image_url":
			img, err := parseImage(p.ImageURL.URL)
			if err != nil {
				return msg, err
			}
			img.Detail = p.ImageURL.Detail
			msg.add("", &img)
		default:
			return msg, fmt.Errorf("invalid content part type %q", p.Type)
		}
	}
	return msg, nil
}

func parseImage(url string) (Image, error) {
	head, data, ok := strings.Cut(strings.TrimPrefix(url, "data:"), ";base64,")
	if !ok {
		return Image{}, fmt.Errorf("invalid image_url")
	}
	b, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return Image{}, fmt.Errorf("invalid base64 image_url: %w", err)
	}
	sum := sha256.Sum256(b)
	img := Image{MIMEType: head, Size: len(b), SHA256: hex.EncodeToString(sum[:])}
	img.found, img.Width, img.Height = look(b)
	return img, nil
}

// Calm forgets the faults that are still to come.
func (s *Simulator) Calm() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
}
