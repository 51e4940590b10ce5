package vision

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"atelier/agent/transcript"
	"atelier/chat"
	"atelier/journal/step"
	"atelier/media"
)

// ShowByPolicy shows pictures made by the actions of a step, as far as the policy allows: the newest
// first, replacing older ones.
func (v *Sights) ShowByPolicy(ctx context.Context, turn int, h *transcript.History, res *transcript.Results) {
	p := v.Policy
	if !p.Enabled || v.Model == nil || !v.profile().SupportsVision {
		return
	}
	var bytes int64
	count := 0
	for i := len(res.Actions) - 1; i >= 0; i-- {
		a, err := v.Actions.Lookup(res.Actions[i].Name)
		if err != nil {
			continue
		}
		for _, o := range slices.Backward(res.Actions[i].Media) {
			if !p.Allows(a, o) || res.Shows(o.Ref) || count == p.MaxImages || bytes >= p.MaxTotalBytes {
				continue
			}
			s, err := v.Fit(ctx, step.Shown(turn, step.KindShow, string(o.Ref)), o, chat.Room{Images: p.MaxImages, MaxBytes: p.MaxTotalBytes - bytes})
			if err != nil {
				v.Warn(ctx, fmt.Sprintf("%s is not shown: %s", o.Ref, media.ErrorText(err.Error())))
				continue
			}
			s.Turns, s.Policy = p.TurnsToLive, true
			res.Views = append(res.Views, s)
			v.Show(InputImage{Ref: s.Ref, MIMEType: s.Shown.MIMEType, FileName: s.Shown.FileName})
			count, bytes = count+1, bytes+s.Shown.SizeBytes
		}
	}
	h.Withdraw(turn, p, count, bytes)
}

// reservedForAnswer is the number of tokens of a model's context that are reserved for its answer.
const reservedForAnswer = 4096

// WithinLimits removes the oldest pictures from messages that exceed the model's limits: in number, in bytes, or in
// tokens by the provider's own formula. A later request shows them again if there is room. The history is unchanged.
func (v *Sights) WithinLimits(ctx context.Context, messages []chat.Message) []chat.Message {
	p := v.profile()
	for {
		reason := overLimit(p, chat.Request{System: v.System, Messages: messages})
		if reason == "" {
			return messages
		}
		ref, less := withoutOldest(messages, reason)
		if ref == "" {
			return messages
		}
		v.Warn(ctx, fmt.Sprintf("%s is no longer shown to agent %s: %s", ref, v.Agent, reason))
		messages = less
	}
}

// overLimit returns the limit of the model that a request exceeds; empty if none.
func overLimit(p chat.Profile, req chat.Request) string {
	var count, large int
	var bytes int64
	for _, m := range req.Messages {
		for _, part := range m.Parts {
			if part.Media == nil {
				continue
			}
			count, bytes = count+1, bytes+part.Media.SizeBytes
			if p.ManyImageSide > 0 && max(part.Media.Width, part.Media.Height) > p.ManyImageSide {
				large++
			}
		}
	}
	switch {
	case count == 0:
		return ""
	case p.MaxImages > 0 && count > p.MaxImages:
		return fmt.Sprintf("%s takes %d pictures in one request", p.Name, p.MaxImages)
	case large > 0 && p.ManyImages > 0 && count > p.ManyImages:
		return fmt.Sprintf("%s takes %d large pictures in one request", p.Name, p.ManyImages)
	case p.MaxTotalImageBytes > 0 && bytes > p.MaxTotalImageBytes:
		return fmt.Sprintf("%s takes %d bytes of pictures in one request", p.Name, p.MaxTotalImageBytes)
	case p.ContextTokens > 0 && p.EstimateTokens(req) > p.ContextTokens-min(reservedForAnswer, p.ContextTokens/4):
		return fmt.Sprintf("the context of %s has %d tokens", p.Name, p.ContextTokens)
	}
	return ""
}

// withoutOldest copies messages without their first picture and returns its ref.
func withoutOldest(messages []chat.Message, reason string) (media.Ref, []chat.Message) {
	for i, m := range messages {
		at := slices.IndexFunc(m.Parts, func(p chat.Part) bool { return p.Media != nil })
		if at < 0 {
			continue
		}
		ref := m.Parts[at].Media.Ref
		if at > 0 { // the picture may be a smaller form; the preceding text names its item
			if named, err := media.ParseRef(strings.Trim(m.Parts[at-1].Text, "\n:")); err == nil {
				ref = named
			}
		}
		m.Parts = slices.Clone(m.Parts)
		m.Parts[at] = chat.Part{Text: " [not shown any more: " + reason + "; View Agent Media shows it again]"}
		out := slices.Clone(messages)
		out[i] = m
		return ref, out
	}
	return "", messages
}
