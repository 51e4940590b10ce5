package action

import (
	"cmp"
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

// Package wire decides which base64 is media; this file decides what replaces it in a value.

// str handles a text. A text that is media as a whole becomes a view; media within a text becomes placeholders. All
// other text is returned byte for byte.
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
		return p.item(p.admitLifted(ctx, items[0], media.Meta{}))
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

// declared handles what is media only by declaration: base64 of any length, an address, a ref, or a picture or page
// written as text.
func (p *pass) declared(ctx context.Context, s string, n nested) (any, bool) {
	web := strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "http://")
	if web && !strings.ContainsAny(s, " \n\t\"<>") {
		return p.item(p.fetch(ctx, s, media.Meta{})), true
	}
	if o, err := p.to.Media.Find(s); err == nil {
		return p.item(o, nil), true
	}
	if strings.HasPrefix(s, "data:") && n.item || strings.HasPrefix(s, "<") && written(s) ||
		n.format == FormatBase64String && wire.Encoded(s) || wire.Signed(s) {
		return p.item(p.text(ctx, s, media.Meta{})), true
	}
	return nil, false
}

// written reports whether a text is a picture or page as it is: SVG, HTML.
func written(s string) bool { return probe.Head([]byte(s[:min(4096, len(s))])).MIMEType != "" }

// text stores the media that a text is: a data URL, a picture or page as it is, or base64.
func (p *pass) text(ctx context.Context, s string, m media.Meta) (media.Output, error) {
	switch {
	case strings.HasPrefix(s, "data:"):
		return p.dataURL(ctx, s, m)
	case !wire.Encoded(s) && written(s):
		return p.keep(ctx, strings.NewReader(s), m)
	}
	return p.base64(ctx, s, m)
}

// liftString replaces the media that detection finds with tokens.
func (p *pass) liftString(ctx context.Context, s string) (string, []wire.Lifted) {
	return p.cfg.Store.LiftString(context.WithoutCancel(ctx), s, wire.ValueOptions{Scope: p.scope(ctx), Threshold: p.to.Threshold})
}

// base64 stores the content of a text that is entirely base64.
func (p *pass) base64(ctx context.Context, s string, m media.Meta) (media.Output, error) {
	_, items := p.cfg.Store.LiftString(context.WithoutCancel(ctx), s, wire.ValueOptions{Scope: p.scope(ctx), Declared: true, MIMEType: m.MIMEType})
	if len(items) != 1 {
		return media.Output{}, media.Errorf(media.CodeInvalid, "a media item is not valid base64")
	}
	return p.admitLifted(ctx, items[0], m)
}

// admitLifted admits a lifted item.
func (p *pass) admitLifted(ctx context.Context, item wire.Lifted, m media.Meta) (media.Output, error) {
	if item.Err != nil {
		return media.Output{}, fmt.Errorf("store media: %w", item.Err)
	}
	return p.admit(ctx, media.NewOutput(item.Blob, m))
}

// scope returns the scope that signs the tokens of one pass. The tokens never leave the pass.
func (p *pass) scope(ctx context.Context) string {
	return cmp.Or(media.ScopeOf(ctx).Tree, "interceptor")
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

// lift replaces media in a text with placeholders.
func (p *pass) lift(ctx context.Context, s string) string {
	if lifted, items := p.liftString(ctx, unescaped(s)); len(items) > 0 {
		return p.named(ctx, lifted, items)
	}
	return s
}

// named replaces the tokens of items, which are in order, with placeholders.
func (p *pass) named(ctx context.Context, s string, items []wire.Lifted) string {
	var out strings.Builder
	for _, item := range items {
		before, after, ok := strings.Cut(s, item.Token)
		if !ok {
			continue
		}
		out.WriteString(before)
		if o, err := p.admitLifted(ctx, item, media.Meta{}); err != nil {
			p.item(o, err)
			// Remove what would end the JSON string or the attribute around the text.
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

// message replaces media in a message with placeholders and clips it.
func (p *pass) message(ctx context.Context, s string) string {
	return clip(p.lift(ctx, strings.ToValidUTF8(s, "�")), maxMessage)
}

// line returns a name or label that is safe to show: media is replaced with its name, and control characters are
// removed.
func line(s string) string {
	return wire.NameMedia(strings.Map(func(c rune) rune {
		if unicode.IsControl(c) && c != '\n' && c != '\t' {
			return -1
		}
		return c
	}, strings.ToValidUTF8(s, "�")))
}

// textType guesses the type of a long text that becomes a document.
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
