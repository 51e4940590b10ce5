package action

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	"atelier/media"
	"atelier/probe"
	"atelier/wire"
)

// str handles a text: as the value it may be media as a whole, which gives a view,
// or hold media, which gives placeholders.
func (p *pass) str(ctx context.Context, s string, n nested) any {
	switch {
	case len(s) < minSigned && !n.declared && !strings.HasPrefix(s, "data:"):
		return strings.ToValidUTF8(s, "�")
	case !utf8.ValidString(s) && (probe.Media([]byte(clipRaw(s, 4096))) || strings.IndexByte(s, 0) >= 0):
		return p.item(p.keep(ctx, strings.NewReader(s), media.Meta{}))
	}
	s = unescaped(strings.ToValidUTF8(s, "�"))
	if b, ok := hexadecimal(strings.TrimSpace(s), n.declared); ok {
		return p.keepBytes(ctx, b)
	}
	if n.declared {
		if v, ok := p.declared(ctx, strings.TrimSpace(s), n); ok {
			return v
		}
	}
	if v, ok := p.whole(ctx, s); ok {
		return v
	}
	if t := strings.TrimSpace(s); !onlyBase64(t) || looksBase64(t) {
		s = p.lift(ctx, s) // else it is one long identifier
	}
	s = withoutSigned(s)
	if (n.declared || p.to.Documents) && len(s) >= p.to.Threshold {
		return p.item(p.keep(ctx, strings.NewReader(s), media.Meta{MIMEType: textType(s)}))
	}
	return s
}

// declared takes what only a declaration makes media: small base64, an address, a
// ref, a picture or page written as text.
func (p *pass) declared(ctx context.Context, s string, n nested) (any, bool) {
	switch {
	case (n.format == FormatBase64String || signed(s)) && looksBase64(s):
		return p.item(p.base64(ctx, s, media.Meta{})), true
	case strings.HasPrefix(s, "https://"), strings.HasPrefix(s, "http://"):
		if !strings.ContainsAny(s, " \n\t\"<>") {
			return p.item(p.fetch(ctx, s, media.Meta{})), true
		}
	case strings.HasPrefix(s, "<"):
		if probe.Head([]byte(clipRaw(s, 4096))).MIMEType != "" {
			return p.item(p.keep(ctx, strings.NewReader(s), media.Meta{})), true
		}
	}
	if o, err := p.to.Media.Find(s); err == nil {
		return p.item(o, nil), true
	}
	return nil, false
}

// whole takes a text that is one media item and nothing else.
func (p *pass) whole(ctx context.Context, s string) (any, bool) {
	t := strings.TrimSpace(s)
	if isDataURL(t) {
		return p.item(p.dataURL(ctx, t, media.Meta{})), true
	}
	if len(t) < p.to.Threshold && !signed(t) || !looksBase64(t) || len(t) < wholeSigned {
		return nil, false
	}
	lifted, items := p.liftString(ctx, t)
	switch {
	case len(items) == 0:
		return nil, false
	case len(items) > 1 || lifted != items[0].Token: // a path or a name stands before it
		return p.named(ctx, lifted, items), true
	case items[0].Err != nil:
		return p.item(media.Output{}, fmt.Errorf("store media: %w", items[0].Err)), true
	}
	return p.item(p.admit(ctx, media.NewOutput(items[0].Blob, media.Meta{}))), true
}

// liftString puts tokens in the place of the media that detection finds.
func (p *pass) liftString(ctx context.Context, s string) (string, []wire.Lifted) {
	return p.cfg.Store.LiftString(context.WithoutCancel(ctx), s, wire.ValueOptions{Scope: p.scope(ctx), Threshold: p.to.Threshold})
}

// wholeSigned is the length from which an undeclared text with a signature is media.
const wholeSigned = 256

// isDataURL tells whether the text is a data URL and nothing else.
func isDataURL(s string) bool {
	head, body, ok := strings.Cut(s, ",")
	if !ok || !strings.HasPrefix(head, "data:") || strings.ContainsAny(head, " \n\"'<>") {
		return false
	}
	if strings.HasSuffix(head, ";base64") {
		return onlyBase64(body)
	}
	return !strings.ContainsAny(body, " \n\"<>") || strings.HasPrefix(head, "data:image/")
}

// base64 stores the content of a text that is base64 as a whole.
func (p *pass) base64(ctx context.Context, s string, m media.Meta) (media.Output, error) {
	_, items := p.cfg.Store.LiftString(context.WithoutCancel(ctx), s, wire.ValueOptions{
		Scope: p.scope(ctx), Declared: true, MIMEType: m.MIMEType, Threshold: p.to.Threshold,
	})
	switch {
	case len(items) != 1:
		return media.Output{}, media.Errorf(media.CodeInvalid, "a media item is not valid base64")
	case items[0].Err != nil:
		return media.Output{}, fmt.Errorf("store media: %w", items[0].Err)
	}
	return p.admit(ctx, media.NewOutput(items[0].Blob, m))
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
		return media.Output{}, media.Errorf(media.CodeInvalid, "a data URL has no content")
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
	if len(s) >= minSigned {
		lifted, items := p.liftString(ctx, s)
		s = p.named(ctx, lifted, items)
	}
	return p.smallDataURLs(ctx, s)
}

// named puts placeholders in the place of the items' tokens, which stand in order.
func (p *pass) named(ctx context.Context, s string, items []wire.Lifted) string {
	if len(items) == 0 {
		return s
	}
	var out strings.Builder
	for _, item := range items {
		before, after, ok := strings.Cut(s, item.Token)
		if !ok {
			continue
		}
		out.WriteString(before)
		out.WriteString(p.placeholder(ctx, item))
		s = after
	}
	out.WriteString(s)
	return out.String()
}

// placeholder admits a lifted item and gives what stands for it in text. A data
// URL's head, which stays before a token, goes with it.
func (p *pass) placeholder(ctx context.Context, item wire.Lifted) string {
	if item.Err != nil {
		return p.inText(media.Output{}, item.Err)
	}
	return p.inText(p.admit(ctx, media.NewOutput(item.Blob, media.Meta{})))
}

func (p *pass) inText(o media.Output, err error) string {
	if err != nil {
		p.item(o, err)
		return "[media not kept: " + plainError(err) + "]"
	}
	return o.Ref.Placeholder()
}

// smallDataURLs takes what is left of data URLs inside a text: their heads before a
// placeholder, and those that are too small for detection, at any size.
func (p *pass) smallDataURLs(ctx context.Context, s string) string {
	const mark = ";base64,"
	var out strings.Builder
	for {
		i := strings.Index(s, mark)
		if i < 0 {
			break
		}
		body := i + len(mark)
		open := dataURLStart(s[:i])
		end := body
		for end < len(s) && (isBase64Byte(s[end]) || s[end] == '=' || escape(s[end:]) > 0 && s[end+1] != 'n' && s[end+1] != 'r') {
			end += max(1, escape(s[end:]))
		}
		switch {
		case open < 0:
			out.WriteString(s[:body])
			end = body
		case strings.HasPrefix(s[body:], "${media:"), strings.HasPrefix(s[body:], "[media not kept"):
			out.WriteString(s[:open])
			end = body
		case end == body:
			out.WriteString(s[:body])
		default:
			out.WriteString(s[:open])
			out.WriteString(p.inText(p.dataURL(ctx, s[open:end], media.Meta{})))
		}
		s = s[end:]
	}
	if out.Len() == 0 {
		return s
	}
	out.WriteString(s)
	return out.String()
}

// dataURLStart gives where the data URL begins whose head ends s, or -1.
func dataURLStart(s string) int {
	from := max(0, len(s)-200)
	open := strings.LastIndex(s[from:], "data:")
	if open < 0 || strings.ContainsAny(s[from+open:], " \n\t\"'<>(),") {
		return -1
	}
	return from + open
}

// message takes media out of a message, scrubs what base64 is left and clips it.
func (p *pass) message(ctx context.Context, s string) string {
	if s == "" {
		return ""
	}
	return clip(safeText(p.lift(ctx, unescaped(strings.ToValidUTF8(s, "�")))), maxMessage)
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
