package chat

import (
	"cmp"
	"context"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"time"

	"charm.land/fantasy"
	"charm.land/fantasy/providers/openai"

	"atelier/internal/safehttp"
	"atelier/journal"
	"atelier/media"
	"atelier/wire"
)

// model is a fantasy language model behind our seam.
type model struct {
	profile    Profile
	provider   Provider
	codec      *wire.Codec
	secrets    safehttp.Secrets
	text, json fantasy.LanguageModel
	relay      journal.Relay // nil if nothing carries the calls
	timeout    time.Duration
	now        func() time.Time
}

var _ Relayed = (*model)(nil)

// Relay implements [Relayed].
func (m *model) Relay() journal.Relay { return m.relay }

// Profile implements [Model].
func (m *model) Profile() Profile { return m.profile }

// Generate implements [Model].
func (m *model) Generate(ctx context.Context, r Request) (Response, error) {
	call, err := m.call(ctx, r)
	if err != nil {
		return Response{}, err
	}
	lm := m.text
	if r.Schema != nil {
		lm = m.json
	}
	ctx, cancel := context.WithTimeout(ctx, m.timeout)
	defer cancel()
	var sent atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { sent.Store(true) }})
	ctx, lifted := wire.WithCollector(withDetails(ctx, r))
	res, err := lm.Generate(ctx, call)
	if err != nil {
		return Response{}, m.failure(ctx, err, sent.Load())
	}
	out := Response{
		// Some providers use Text for one block only; ours is the whole answer.
		Text: joinText(res.Content), Model: m.profile.ID, FinishReason: finish(res.FinishReason), Usage: m.usage(res.Usage),
	}
	if strings.TrimSpace(out.Text) == "" && out.FinishReason == "content_filter" {
		return Response{}, media.Errorf(media.CodeModerated, "ask %s: its safety system withheld the answer: change the task or the material", m.profile)
	}
	out.Text = m.codec.Placeholders(media.ScopeOf(ctx).Tree, m.secrets.Redact(out.Text))
	for _, l := range lifted.All() {
		if l.Err != nil {
			out.Warnings = append(out.Warnings, "a picture that "+m.profile.Name+" made was not taken: "+media.ErrorText(l.Err.Error()))
			continue
		}
		out.Media = append(out.Media, media.NewOutput(l.Blob, media.Meta{}))
	}
	out.CostUSD = m.profile.Cost(out.Usage, m.now())
	return out, nil
}

// usage counts what is billed, by the provider's own way of counting.
func (m *model) usage(u fantasy.Usage) Usage {
	if m.profile.Provider == "gemini" {
		// Thoughts are counted beside the answer, and cached tokens within the prompt.
		return Usage{InputTokens: u.InputTokens, OutputTokens: u.OutputTokens + u.ReasoningTokens}
	}
	return Usage{InputTokens: u.InputTokens + u.CacheReadTokens + u.CacheCreationTokens, OutputTokens: u.OutputTokens}
}

func joinText(c fantasy.ResponseContent) string {
	var b strings.Builder
	for _, part := range c {
		if t, ok := fantasy.AsContentType[fantasy.TextContent](part); ok {
			b.WriteString(t.Text)
		}
	}
	return b.String()
}

func finish(f fantasy.FinishReason) string {
	switch f {
	case fantasy.FinishReasonStop:
		return "stop"
	case fantasy.FinishReasonLength:
		return "length"
	case fantasy.FinishReasonContentFilter:
		return "content_filter"
	default:
		return "other"
	}
}

func (m *model) call(ctx context.Context, r Request) (fantasy.Call, error) {
	c := fantasy.Call{}
	if r.System != "" {
		c.Prompt = append(c.Prompt, fantasy.NewSystemMessage(r.System))
	}
	for _, msg := range r.Messages {
		parts, err := m.parts(ctx, msg.Parts)
		if err != nil {
			return c, err
		}
		role := fantasy.MessageRoleUser
		if msg.Role == RoleAssistant {
			role = fantasy.MessageRoleAssistant
		}
		c.Prompt = append(c.Prompt, fantasy.Message{Role: role, Content: parts})
	}
	if most := cmp.Or(r.MaxOutputTokens, m.room()); most > 0 {
		c.MaxOutputTokens = &most
	}
	if r.Temperature != nil && !m.profile.NoTemperature {
		c.Temperature = r.Temperature
	}
	return c, nil
}

// anthropicRoom is what one answer may take: beyond about 21,000 tokens the SDK
// demands a stream.
const anthropicRoom = 16_000

// room is the length of answer to ask for where the request names none; 0 leaves it
// to the provider. Anthropic's protocol wants a number, and the SDK's is too small
// for a report.
func (m *model) room() int64 {
	if m.profile.Provider != "anthropic" {
		return 0
	}
	return min(cmp.Or(m.profile.MaxOutputTokens, anthropicRoom), anthropicRoom)
}

// parts turns our parts into the SDK's. A picture travels as the marker of its
// blob; the transport puts the bytes in its place.
func (m *model) parts(ctx context.Context, parts []Part) ([]fantasy.MessagePart, error) {
	scope := media.ScopeOf(ctx).Tree
	var out []fantasy.MessagePart
	for _, p := range parts {
		if p.Media == nil {
			out = append(out, fantasy.TextPart{Text: p.Text})
			continue
		}
		if err := m.profile.Sees(*p.Media); err != nil {
			return nil, err
		}
		out = append(out, fantasy.FilePart{
			Filename: p.Media.FileName, MediaType: p.Media.MIMEType,
			Data:            []byte(m.codec.Marker(scope, p.Media.Blob, wire.VariantStd)),
			ProviderOptions: m.detail(p.Detail),
		})
	}
	return out, nil
}

// detail tells how closely to look, where the protocol has a word for it.
func (m *model) detail(d string) fantasy.ProviderOptions {
	if !m.profile.Detail || d == "" || d == "auto" {
		return nil
	}
	return fantasy.ProviderOptions{openai.Name: &openai.ProviderFileOptions{ImageDetail: d}}
}
