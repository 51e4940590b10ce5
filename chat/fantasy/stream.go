package fantasy

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"

	"charm.land/fantasy"

	"atelier/internal/safehttp"
)

// stream requests an answer whose text is shown while it is written. The text comes from the transport [streamed],
// which also reads what the SDK drops.
func stream(ctx context.Context, lm fantasy.LanguageModel, call fantasy.Call, s *reply) error {
	defer func() { s.end() }() // SDKs may stop reading at the last event
	parts, err := lm.Stream(ctx, call)
	if err != nil {
		return err
	}
	for p := range parts {
		if p.Type == fantasy.StreamPartTypeError && !s.whole {
			return p.Error
		}
	}
	if s.whole {
		return nil
	}
	return ctx.Err() // some SDKs end a stream without an error
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
	content := a.Content
	for _, o := range a.Output {
		content = append(content, o.Content...)
	}
	return text + textOf(content)
}

// finish returns why an answer ended: stop, length or other.
func (a answerBody) finish() string {
	reason := cmp.Or(a.StopReason, a.Incomplete.Reason, plain(a.Status))
	for _, c := range a.Choices[:min(len(a.Choices), 1)] {
		reason = c.FinishReason
	}
	for _, c := range a.Candidates[:min(len(a.Candidates), 1)] {
		reason = c.FinishReason
	}
	switch reason {
	case "stop", "end_turn", "pause_turn", "stop_sequence", "STOP", "completed":
		return "stop"
	case "length", "max_tokens", "model_context_window_exceeded", "MAX_TOKENS", "max_output_tokens":
		return "length"
	}
	return "other"
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

	// Message begins an answer of Anthropic; Delta and Usage add to it.
	Message json.RawMessage `json:"message"`
	Delta   json.RawMessage `json:"delta"`
}

// add adds the content of an event to an answer, except the text, which it returns.
func (a *answerBody) add(e streamEvent, data []byte) string {
	switch {
	case e.Type == "error":
		if a.Error = e.Error; !statedError(a.Error) {
			a.Error = bytes.Clone(data)
		}
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
	return ""
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
