package fantasy

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"charm.land/fantasy"

	"atelier/internal/safehttp"
	"atelier/media/wire"
)

// stream requests an answer whose text is shown while it is written. The text comes from the transport [streamed],
// which also reads what the SDK drops.
func stream(ctx context.Context, lm fantasy.LanguageModel, call fantasy.Call, s *reply) (*fantasy.Response, error) {
	defer func() { s.end() }() // SDKs may stop reading at the last event
	parts, err := lm.Stream(ctx, call)
	if err != nil {
		return nil, err
	}
	res := &fantasy.Response{}
	for p := range parts {
		switch p.Type {
		case fantasy.StreamPartTypeError:
			if s.whole == nil {
				return nil, p.Error
			}
		case fantasy.StreamPartTypeFinish:
			res.FinishReason, res.Usage = p.FinishReason, p.Usage
		default:
		}
	}
	if s.whole != nil {
		res.FinishReason = s.whole.finish()
		return res, nil
	}
	if err := ctx.Err(); err != nil { // some SDKs end a stream without an error
		return nil, err
	}
	return res, nil
}

// words returns the text of an answer that was not streamed.
func (a answerBody) words() (text string) {
	for _, c := range a.Choices[:min(len(a.Choices), 1)] {
		text += c.Message.text()
	}
	for _, c := range a.Candidates[:min(len(a.Candidates), 1)] {
		for _, p := range c.Content.Parts {
			if !p.Thought {
				text += p.Text
			}
		}
	}
	for _, p := range a.Content {
		if p.Type == "text" {
			text += p.Text
		}
	}
	return text
}

// finish returns the reason why an answer ended.
func (a *answerBody) finish() fantasy.FinishReason {
	reason := a.StopReason
	for _, c := range a.Choices {
		reason = c.FinishReason
	}
	for _, c := range a.Candidates {
		reason = c.FinishReason
	}
	switch reason {
	case "stop", "end_turn", "stop_sequence", "STOP":
		return fantasy.FinishReasonStop
	case "length", "max_tokens", "MAX_TOKENS":
		return fantasy.FinishReasonLength
	}
	return fantasy.FinishReasonOther
}

// lift lifts media out of a streamed text, as the transport does for an answer that is not streamed.
func (m *model) lift(ctx context.Context, text string) (string, error) {
	var whole struct {
		Content string `json:"content"`
	}
	whole.Content = text
	b, err := json.Marshal(whole)
	if err != nil {
		return "", err
	}
	r := m.codec.LiftReader(ctx, io.NopCloser(bytes.NewReader(b)), wire.LiftOptions{Fields: mediaFields})
	err = json.NewDecoder(r).Decode(&whole)
	return whole.Content, errors.Join(err, r.Close())
}

// lifting lifts media out of answers, and lowers media into requests.
type lifting struct{ whole, streamed http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
func (t lifting) RoundTrip(req *http.Request) (*http.Response, error) {
	if s, ok := req.Context().Value(replyKey{}).(*reply); ok && s.onText != nil {
		return t.streamed.RoundTrip(req)
	}
	return t.whole.RoundTrip(req)
}

// streamed is the body of an answer that comes as server-sent events. While the SDK reads it, streamed passes on the
// text and assembles the events to one answer. At the end, this answer is read like one that came at once.
type streamed struct {
	io.ReadCloser
	reply   *reply
	secrets safehttp.Secrets
	end     func(a answerBody)

	line  []byte // the beginning of an incomplete line
	whole answerBody
	ended bool
}

// Read implements [io.Reader].
func (b *streamed) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	for rest := p[:n]; len(rest) > 0; {
		line, after, whole := bytes.Cut(rest, []byte("\n"))
		if b.line = append(b.line, line...); whole {
			b.read()
		}
		rest = after
	}
	if err != nil {
		b.finish()
	}
	return n, err
}

// Close implements [io.Closer].
func (b *streamed) Close() error {
	b.finish()
	return b.ReadCloser.Close()
}

func (b *streamed) finish() {
	if b.ended {
		return
	}
	b.ended = true
	b.read()
	// The events contained the text in pieces.
	switch a, text := &b.whole, b.reply.text.String(); {
	case len(a.Choices) > 0:
		a.Choices[0].Message.Content, _ = json.Marshal(text) // a string can always be encoded
	case len(a.Candidates) > 0:
		parts := &a.Candidates[0].Content.Parts
		*parts = append(*parts, candidatePart{Text: text})
	case a.StopReason != "":
		a.Content = []contentPart{{Type: "text", Text: text}}
	}
	b.end(b.whole)
}

// read reads a complete line.
func (b *streamed) read() {
	data, ok := bytes.CutPrefix(bytes.TrimSpace(b.line), []byte("data:"))
	b.line = b.line[:0]
	var e streamEvent
	if data = bytes.TrimSpace(data); !ok || len(data) == 0 || data[0] != '{' || partly(json.Unmarshal(data, &e)) != nil {
		return
	}
	text := b.whole.add(e, data)
	if text == "" {
		return
	}
	s := b.reply
	s.text.WriteString(text)
	all := s.held + text
	cut := b.secrets.Settled(all)
	s.held = all[cut:]
	if cut > 0 && s.onText != nil { // some services stream although they were not asked to
		s.onText(b.secrets.Redact(all[:cut]))
	}
}

// streamEvent holds what the events of all protocols contain.
type streamEvent struct {
	answerBody // chat completions and Gemini: each event contains a part of an answer

	Usage    json.RawMessage `json:"usage"`
	Metadata json.RawMessage `json:"usageMetadata"`
	Choices  []struct {
		choice
		Delta chatMessage `json:"delta"`
	} `json:"choices"`

	// Response is the whole answer, in the last event of the Responses API.
	Response *answerBody `json:"response"`

	// Message begins an answer of Anthropic; Delta and Usage add to it. In the Responses API, Delta is text.
	Message json.RawMessage `json:"message"`
	Delta   json.RawMessage `json:"delta"`
}

// add adds the content of an event to an answer, except the text, which it returns.
func (a *answerBody) add(e streamEvent, data []byte) (text string) {
	switch {
	case e.Type == "error":
		if a.Error = e.Error; !statedError(a.Error) {
			a.Error = bytes.Clone(data)
		}
	case e.Type == "response.output_text.delta":
		_ = partly(json.Unmarshal(e.Delta, &text)) // a missing delta stays empty
	case e.Response != nil:
		*a = *e.Response
	case e.Type == "message_start":
		_ = partly(json.Unmarshal(e.Message, a))
	case e.Type == "content_block_delta":
		var d contentPart // that of a thought has no text
		_ = partly(json.Unmarshal(e.Delta, &d))
		return d.Text
	case e.Type == "message_delta":
		var d answerBody
		_ = partly(json.Unmarshal(e.Usage, &a.Usage))
		_ = partly(json.Unmarshal(e.Delta, &d))
		a.StopReason, a.StopDetails = cmp.Or(d.StopReason, a.StopReason), d.StopDetails
	case e.Type != "": // the other events add nothing
	default:
		if statedError(e.Error) {
			a.Error = e.Error
		}
		if e.Feedback.Reason != "" {
			a.Feedback = e.Feedback
		}
		_ = partly(json.Unmarshal(e.Usage, &a.Usage)) // values that an event lacks stay unchanged
		_ = partly(json.Unmarshal(e.Metadata, &a.Metadata))
		return a.addChoice(e) + a.addCandidate(e)
	}
	return text
}

// addChoice adds a part to the first choice of a chat completion.
func (a *answerBody) addChoice(e streamEvent) string {
	if len(e.Choices) == 0 {
		return ""
	}
	if len(a.Choices) == 0 {
		a.Choices = make([]choice, 1)
	}
	c, more := &a.Choices[0], e.Choices[0]
	c.FinishReason = cmp.Or(more.FinishReason, c.FinishReason)
	if statedError(more.Error) {
		c.Error = more.Error
	}
	if more.Filters != nil {
		c.Filters = more.Filters
	}
	if r := more.Delta.Refusal; r != nil {
		if c.Message.Refusal == nil {
			c.Message.Refusal = new(string)
		}
		*c.Message.Refusal += *r
	}
	return more.Delta.text()
}

// addCandidate adds a part to the first candidate of Gemini.
func (a *answerBody) addCandidate(e streamEvent) (text string) {
	if len(e.Candidates) == 0 {
		return ""
	}
	if len(a.Candidates) == 0 {
		a.Candidates = make([]candidate, 1)
	}
	c, more := &a.Candidates[0], e.Candidates[0]
	c.FinishReason, c.Message = cmp.Or(more.FinishReason, c.FinishReason), cmp.Or(more.Message, c.Message)
	for _, p := range more.Content.Parts {
		if !p.Thought {
			text += p.Text
		}
		if len(p.Inline) > 0 {
			p.Text = ""
			c.Content.Parts = append(c.Content.Parts, p)
		}
	}
	return text
}
