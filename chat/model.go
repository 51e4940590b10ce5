package chat

import (
	"context"
	"math/big"
	"strings"

	"charm.land/fantasy"

	"atelier/media"
	"atelier/wire"
)

// model is a fantasy language model behind our seam.
type model struct {
	profile    Profile
	codec      *wire.Codec
	text, json fantasy.LanguageModel
}

var _ Model = (*model)(nil)

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
	ctx, lifted := wire.WithCollector(ctx)
	res, err := lm.Generate(ctx, call)
	if err != nil {
		return Response{}, m.failure(err)
	}
	out := Response{
		// Some providers use Text for one block only; ours is the whole answer.
		Text: joinText(res.Content), Model: m.profile.ID, FinishReason: finish(res.FinishReason),
		Usage: Usage{
			InputTokens:  res.Usage.InputTokens + res.Usage.CacheReadTokens + res.Usage.CacheCreationTokens,
			OutputTokens: res.Usage.OutputTokens,
		},
	}
	out.Text = m.codec.Placeholders(media.ScopeOf(ctx).Tree, out.Text)
	for _, l := range lifted.All() {
		out.Media = append(out.Media, media.NewOutput(l.Blob, media.Meta{}))
	}
	out.CostUSD = m.profile.Cost(out.Usage)
	return out, nil
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
	if r.MaxOutputTokens > 0 {
		c.MaxOutputTokens = &r.MaxOutputTokens
	}
	if r.Temperature != nil && !m.profile.NoTemperature {
		c.Temperature = r.Temperature
	}
	return c, nil
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
		if !m.profile.SupportsVision {
			return nil, media.Errorf(media.CodeUnsupported, "%s takes no pictures: choose a chat model with vision", m.profile)
		}
		out = append(out, fantasy.FilePart{
			Filename: p.Media.FileName, MediaType: p.Media.MIMEType,
			Data: []byte(m.codec.Marker(scope, p.Media.Blob, wire.VariantStd)),
		})
	}
	return out, nil
}

// Cost is the exact price of a call in US dollars as decimal text; nil if the
// profile has no prices.
func (f Profile) Cost(u Usage) *string {
	in, ok1 := new(big.Rat).SetString(f.InputUSD)
	out, ok2 := new(big.Rat).SetString(f.OutputUSD)
	if !ok1 || !ok2 {
		if !f.Offline {
			return nil
		}
		in, out = new(big.Rat), new(big.Rat)
	}
	million := big.NewRat(1_000_000, 1)
	sum := new(big.Rat).Mul(in, big.NewRat(u.InputTokens, 1))
	sum.Add(sum, out.Mul(out, big.NewRat(u.OutputTokens, 1)))
	sum.Quo(sum, million)
	s := strings.TrimRight(strings.TrimRight(sum.FloatString(12), "0"), ".")
	if s == "" {
		s = "0"
	}
	return &s
}
