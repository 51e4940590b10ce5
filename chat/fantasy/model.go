package fantasy

import (
	"cmp"
	"context"
	"errors"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"charm.land/fantasy"
	"charm.land/fantasy/providers/openai"
	"charm.land/fantasy/providers/openaicompat"

	"atelier/chat"
	"atelier/internal/safehttp"
	"atelier/media"
	"atelier/media/wire"
)

// model implements [chat.Model] with a fantasy language model.
type model struct {
	profile  chat.Profile
	provider chat.Provider
	codec    *wire.Codec
	secrets  safehttp.Secrets
	sdk      fantasy.LanguageModel
	timeout  time.Duration
	now      func() time.Time
}

// Profile implements [chat.Model].
func (m *model) Profile() chat.Profile { return m.profile }

// Generate implements [chat.Model].
func (m *model) Generate(ctx context.Context, r chat.Request) (chat.Response, error) {
	call, err := m.call(ctx, r)
	if err != nil {
		return chat.Response{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, m.timeout)
	defer cancel()
	var sent atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { sent.Store(true) }})
	ctx, lifted := wire.WithCollector(ctx)
	onText := r.OnText
	if m.profile.ImageOutput { // an answer with pictures comes at once
		onText = nil
	}
	reply := &reply{by: asked{tokens: m.profile.EstimateTokens(r)}, onText: onText, end: func() {}}
	for _, message := range r.Messages {
		for _, p := range message.Parts {
			if p.Media != nil {
				reply.by.details = append(reply.by.details, p.Detail)
			}
		}
	}
	ctx = context.WithValue(ctx, replyKey{}, reply)
	_, err = chat.Guarded(func() (any, error) { // the answer is in reply
		if onText != nil {
			return nil, stream(ctx, m.sdk, call, reply)
		}
		return m.sdk.Generate(ctx, call)
	})
	out := chat.Response{Model: m.profile.ID, FinishReason: reply.finish}
	m.settle(&out, reply)
	switch {
	case reply.problem != nil:
		if reply.text.Len() > 0 { // a part of the answer was generated
			reply.problem.Retryable = false
			if out.Usage == (chat.Usage{}) {
				chat.MayBeBilled(reply.problem)
			}
		}
		return out, reply.problem
	case err != nil:
		return chat.Response{}, m.failure(ctx, err, sent.Load())
	}
	text, items := m.codec.LiftString(ctx, reply.text.String(), wire.ValueOptions{}) // the pieces of a streamed text are no items
	if onText != nil && reply.held != "" {
		onText(m.secrets.Redact(reply.held))
	}
	out.Text, out.Warnings = m.codec.Placeholders(media.ScopeOf(ctx).Tree, m.secrets.Redact(text)), reply.warnings
	out.Keep(m.profile, append(lifted.All(), items...))
	return out, nil
}

// settle records the usage and the cost of a call that was answered.
func (m *model) settle(out *chat.Response, reply *reply) {
	if !reply.answered {
		return
	}
	u := reply.usage
	out.Usage = chat.Usage{
		InputTokens: max(u.InputTokens, 0), OutputTokens: max(u.OutputTokens, 0), CachedTokens: max(u.CachedTokens, 0), ImageTokens: max(u.ImageTokens, 0),
	}
	out.CostIncomplete = reply.unpriced
	if out.CostUSD = reply.cost; out.CostUSD != nil {
		out.CostReported = true
		return
	}
	out.CostUSD = m.profile.Cost(out.Usage, m.now())
}

func (m *model) call(ctx context.Context, r chat.Request) (fantasy.Call, error) {
	c := fantasy.Call{}
	if r.System != "" {
		c.Prompt = append(c.Prompt, fantasy.NewSystemMessage(r.System))
	}
	for _, msg := range r.Messages {
		parts, err := m.parts(ctx, msg.Parts)
		if err != nil {
			return c, err
		}
		if len(parts) == 0 {
			continue // some services reject empty messages
		}
		role := fantasy.MessageRoleUser
		if msg.Role == chat.RoleAssistant {
			role = fantasy.MessageRoleAssistant
		}
		c.Prompt = append(c.Prompt, fantasy.Message{Role: role, Content: parts})
	}
	most := r.MaxOutputTokens
	if most == 0 && m.profile.Provider == "anthropic" { // its protocol requires a number, and the SDK's default is too small for a report
		most = min(cmp.Or(m.profile.MaxOutputTokens, anthropicMaxTokens), anthropicMaxTokens)
	}
	if most > 0 {
		c.MaxOutputTokens = &most
	}
	if r.Temperature != nil && !m.profile.NoTemperature {
		c.Temperature = r.Temperature
	}
	fields := map[string]any{}
	switch f := m.profile; {
	case f.ImageOutput && f.Provider == "openrouter":
		fields["modalities"] = []string{"image", "text"}
	case r.Schema != nil && f.StructuredOutput && !f.ImageOutput: // a picture is not JSON
		// Every OpenAI-compatible service accepts json_object. Strict schemas cannot express free-form action
		// parameters.
		fields["response_format"] = map[string]string{"type": "json_object"}
	}
	c.ProviderOptions = fantasy.ProviderOptions{openaicompat.Name: &openaicompat.ProviderOptions{ExtraBody: fields}}
	return c, nil
}

// anthropicMaxTokens is the maximum length of an answer in tokens. Above about 21,000 tokens, the SDK requires a
// stream.
const anthropicMaxTokens = 16_000

// parts converts message parts to those of the SDK. It omits blank texts, which Anthropic rejects. A picture is sent as
// the marker of its blob; the transport replaces the marker with the bytes.
func (m *model) parts(ctx context.Context, parts []chat.Part) ([]fantasy.MessagePart, error) {
	scope := media.ScopeOf(ctx).Tree
	var out []fantasy.MessagePart
	for _, p := range parts {
		if p.Media == nil {
			if strings.TrimSpace(p.Text) != "" {
				out = append(out, fantasy.TextPart{Text: p.Text})
			}
			continue
		}
		if err := m.profile.CheckVision(*p.Media); err != nil {
			return nil, err
		}
		file := fantasy.FilePart{
			Filename: p.Media.FileName, MediaType: p.Media.MIMEType,
			Data: []byte(m.codec.Marker(scope, p.Media.Blob, wire.VariantStd)),
		}
		if m.profile.Detail && p.Detail != "" && p.Detail != "auto" {
			file.ProviderOptions = fantasy.ProviderOptions{openai.Name: &openai.ProviderFileOptions{ImageDetail: p.Detail}}
		}
		out = append(out, file)
	}
	return out, nil
}

// failure converts the SDK's error of a call without an answer, or with an unreadable one, to a media error. [reading]
// handles what an answer says about itself before that. The SDK's error value is dropped, because it contains whole
// request and response bodies. sent reports whether the request left this machine.
func (m *model) failure(ctx context.Context, err error, sent bool) error {
	if own, ok := errors.AsType[*media.Error](err); ok {
		return own
	}
	reason := err.Error()
	u, network := errors.AsType[*url.Error](err)
	if network {
		reason = u.Err.Error()
	}
	reason = m.secrets.Clean(reason, chat.MaxMessage)
	e := chat.LostCall{Profile: m.profile, Err: err, Why: reason, Check: "the network and " + m.provider.BaseVariable, Sent: sent}.Unanswered(ctx)
	if e.Code == media.CodeUnavailable && !network { // the SDK rejected the request
		return media.Errorf(media.CodeInvalid, "ask %s: %s", m.profile, reason)
	}
	return e
}
