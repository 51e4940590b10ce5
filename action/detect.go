package action

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"atelier/media"
	"atelier/media/probe"
	"atelier/media/wire"
)

// What base64 is media, is wire's to decide; this file says what becomes of it in a value.

// str handles a text: as the value it may be media as a whole, which gives a view,
// or hold media, which gives placeholders. All other text passes byte for byte.
func (p *pass) str(ctx context.Context, s string, n nested) any {
	if !utf8.ValidString(s) {
		if probe.Media([]byte(s[:min(4096, len(s))])) || strings.IndexByte(s, 0) >= 0 {
			return p.item(p.keep(ctx, strings.NewReader(s), media.Meta{}))
		}
		s = strings.ToValidUTF8(s, "�")
	}
	t := strings.TrimSpace(s)
	if b, ok := hexadecimal(t, n.declared); ok {
		return p.keepBytes(ctx, b)
	}
	if n.declared {
		if v, ok := p.declared(ctx, t, n); ok {
			return v
		}
	}
	lifted, items := p.liftString(ctx, unescaped(s))
	if len(items) == 1 && strings.TrimSpace(lifted) == items[0].Token {
		return p.item(p.taken(ctx, items[0], media.Meta{}))
	}
	if len(items) > 0 {
		s = p.named(ctx, lifted, items)
	}
	switch {
	case n.declared && len(s) >= p.to.Threshold:
		return p.item(p.keep(ctx, strings.NewReader(s), media.Meta{MIMEType: textType(s)}))
	case n.item && len(items) == 0 && t != "":
		return p.item(media.Output{}, media.Errorf(media.CodeInvalid, "a value declared as media is not media: it is text of %d bytes that cannot be decoded", len(s)))
	}
	return s
}

// declared takes what only a declaration makes media: base64 of any length, an address, a
// ref, a picture or page written as text.
func (p *pass) declared(ctx context.Context, s string, n nested) (any, bool) {
	switch {
	case strings.HasPrefix(s, "https://"), strings.HasPrefix(s, "http://"):
		if !strings.ContainsAny(s, " \n\t\"<>") {
			return p.item(p.fetch(ctx, s, media.Meta{})), true
		}
	case strings.HasPrefix(s, "data:") && n.item:
		return p.item(p.dataURL(ctx, s, media.Meta{})), true
	case strings.HasPrefix(s, "<"):
		if probe.Head([]byte(s[:min(4096, len(s))])).MIMEType != "" {
			return p.item(p.keep(ctx, strings.NewReader(s), media.Meta{})), true
		}
	}
	if o, err := p.to.Media.Find(s); err == nil {
		return p.item(o, nil), true
	}
	if n.format == FormatBase64String && wire.Encoded(s) || wire.Signed(s) {
		return p.item(p.base64(ctx, s, media.Meta{})), true
	}
	return nil, false
}

// liftString puts tokens in the place of the media that detection finds.
func (p *pass) liftString(ctx context.Context, s string) (string, []wire.Lifted) {
	return p.cfg.Store.LiftString(context.WithoutCancel(ctx), s, wire.ValueOptions{Scope: p.scope(ctx), Threshold: p.to.Threshold})
}

// base64 stores the content of a text that is base64 as a whole.
func (p *pass) base64(ctx context.Context, s string, m media.Meta) (media.Output, error) {
	_, items := p.cfg.Store.LiftString(context.WithoutCancel(ctx), s, wire.ValueOptions{Scope: p.scope(ctx), Declared: true, MIMEType: m.MIMEType})
	if len(items) != 1 {
		return media.Output{}, media.Errorf(media.CodeInvalid, "a media item is not valid base64")
	}
	return p.taken(ctx, items[0], m)
}

// taken admits a lifted item.
func (p *pass) taken(ctx context.Context, item wire.Lifted, m media.Meta) (media.Output, error) {
	if item.Err != nil {
		return media.Output{}, fmt.Errorf("store media: %w", item.Err)
	}
	return p.admit(ctx, media.NewOutput(item.Blob, m))
}

// scope signs the tokens of one pass; they never leave it.
func (p *pass) scope(ctx context.Context) string {
	if tree := media.ScopeOf(ctx).Tree; tree != "" {
		return tree
	}
	return "interceptor"
}

// dataURL stores the content of a data URL, base64 or percent-encoded.
func (p *pass) dataURL(ctx context.Context, s string, m media.Meta) (media.Output, error) {
	head, body, ok := strings.Cut(strings.TrimPrefix(s, "data:"), ",")
	if !ok || body == "" {
		return media.Output{}, media.Errorf(media.CodeInvalid, "a data URL is empty")
	}
	kind, isBase64 := strings.CutSuffix(head, ";base64")
	if m.MIMEType == "" {
		m.MIMEType, _, _ = strings.Cut(kind, ";")
	}
	if isBase64 {
		return p.base64(ctx, body, m)
	}
	text, err := url.PathUnescape(body)
	if err != nil {
		text = body
	}
	return p.keep(ctx, strings.NewReader(text), m)
}

// lift replaces media inside a text by placeholders.
func (p *pass) lift(ctx context.Context, s string) string {
	if lifted, items := p.liftString(ctx, unescaped(s)); len(items) > 0 {
		return p.named(ctx, lifted, items)
	}
	return s
}

// named puts placeholders in the place of the items' tokens, which stand in order.
func (p *pass) named(ctx context.Context, s string, items []wire.Lifted) string {
	var out strings.Builder
	for _, item := range items {
		before, after, ok := strings.Cut(s, item.Token)
		if !ok {
			continue
		}
		out.WriteString(before)
		if o, err := p.taken(ctx, item, media.Meta{}); err != nil {
			p.item(o, err)
			// Without what would end the JSON string or the attribute around the text.
			out.WriteString("[media not stored: " + strings.Map(func(r rune) rune {
				switch {
				case strings.ContainsRune("\"'`", r):
					return '’'
				case r == '\\' || r < ' ':
					return ' '
				}
				return r
			}, plainError(err)) + "]")
		} else {
			out.WriteString(o.Ref.Placeholder())
		}
		s = after
	}
	out.WriteString(s)
	return out.String()
}

// message takes media out of a message and clips it.
func (p *pass) message(ctx context.Context, s string) string {
	return clip(p.lift(ctx, strings.ToValidUTF8(s, "�")), maxMessage)
}

// line is a name or a label as it may be shown anywhere: without media, which is
// named, and without control characters.
func line(s string) string {
	return wire.NameMedia(strings.Map(func(c rune) rune {
		if unicode.IsControl(c) && c != '\n' && c != '\t' {
			return -1
		}
		return c
	}, strings.ToValidUTF8(s, "�")))
}

// textType guesses the type of a large text that becomes a document.
func textType(s string) string {
	t := strings.TrimSpace(s)
	switch {
	case strings.HasPrefix(t, "<"):
		return "text/html"
	case strings.HasPrefix(t, "{"), strings.HasPrefix(t, "["):
		return "application/json"
	case strings.HasPrefix(t, "#"), strings.Contains(t, "\n## "), strings.Contains(t, "\n- "):
		return "text/markdown"
	}
	return "text/plain"
}
