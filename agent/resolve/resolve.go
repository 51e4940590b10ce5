// Package resolve renders placeholders where a text is read: as addresses, file names or bytes, in HTML,
// Markdown and plain text, and in every string of a payload. Stored text keeps its placeholders.
//
// Errors are media.Error values: invalid for options that cannot be satisfied and for a payload that is not
// JSON, and the errors of the store. It may import media.
package resolve

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"atelier/agent/internal/plain"
	"atelier/media"
)

// Mode says what a placeholder becomes.
type Mode string

// The modes of [Text].
const (
	// ModeKeep leaves placeholders as they are.
	ModeKeep Mode = "keep"
	// ModeURL writes the address at which the item is served.
	ModeURL Mode = "url"
	// ModeFile writes a relative file name.
	ModeFile Mode = "file"
	// ModeDataURI streams the bytes as a data: address, for self-contained files.
	ModeDataURI Mode = "data_uri"
)

// Format is the type of text that contains the placeholders.
type Format string

// The formats of [Text].
const (
	FormatHTML     Format = "html"
	FormatMarkdown Format = "markdown"
	FormatText     Format = "text"
)

// Bytes opens stored items; *wire.Codec implements it.
type Bytes interface {
	// Open reads a stored blob; the caller closes it.
	Open(ctx context.Context, d media.Digest) (io.ReadCloser, error)
	// WriteDataURI streams a blob in the form data:TYPE;base64,….
	WriteDataURI(ctx context.Context, w io.Writer, b media.Blob) error
}

// Options configures [Text].
type Options struct {
	Mode Mode
	// Format is html, markdown or text; empty means html.
	Format Format
	// Find looks up an item; agent.Result.Find and media.Set.Lookup are such functions. Required.
	Find func(media.Ref) (media.Output, bool)
	// URL returns an item's address in ModeURL; nil means /media/REF.
	URL func(media.Output) string
	// File returns an item's file name in ModeFile; nil means media/ and [FileName].
	File func(media.Output) string
	// Caption returns the caption of an item that stands alone; nil means its label.
	Caption func(media.Output) string
	// Codec opens the bytes; required in ModeDataURI.
	Codec Bytes
}

func (o Options) withDefaults() (Options, error) {
	switch o.Mode {
	case ModeKeep, ModeURL, ModeFile, ModeDataURI:
	default:
		return o, media.Errorf(media.CodeInvalid, "%q is not a resolve mode: use keep, url, file or data_uri", o.Mode)
	}
	if o.Find == nil || o.Mode == ModeDataURI && o.Codec == nil {
		return o, media.Errorf(media.CodeInvalid, "resolve.Options needs Find, and Codec for data_uri")
	}
	o.Format = cmp.Or(o.Format, FormatHTML)
	if o.Caption == nil {
		o.Caption = label
	}
	if o.URL == nil {
		o.URL = func(m media.Output) string { return "/media/" + string(m.Ref) }
	}
	if o.File == nil {
		o.File = func(m media.Output) string { return "media/" + FileName(m) }
	}
	return o, nil
}

// Text writes text to w with every placeholder rendered. Where an address belongs (in an attribute, in a Markdown
// link), the placeholder becomes an address; elsewhere it becomes a complete figure, image, player or link. An unknown
// ref, or one whose bytes cannot be opened, becomes a visible "missing image". A raw placeholder is never written
// except in ModeKeep. Memory is O(64 KiB) in addition to the text, regardless of the size of the items.
func Text(ctx context.Context, w io.Writer, text string, o Options) error {
	o, err := o.withDefaults()
	if err != nil {
		return err
	}
	if o.Mode == ModeKeep {
		_, err := io.WriteString(w, text)
		return err
	}
	p := &renderer{ctx: ctx, o: o, w: &tailWriter{w: w}}
	return p.text(text)
}

// renderer renders the placeholders of one text. It lives for one call of Text.
type renderer struct {
	ctx context.Context //nolint:containedctx // lives for one call; media.Resolver takes no context.
	o   Options
	w   *tailWriter
}

// text handles marks that look like placeholders but contain no ref, which media.Resolve passes
// through as text. It leaves the rest to media.Resolve.
func (p *renderer) text(text string) error {
	if len(media.BadRefs(text)) > 0 {
		done := 0
		for _, at := range anyMark.FindAllStringIndex(text, -1) {
			mark := text[at[0]:at[1]]
			if len(media.BadRefs(mark)) == 0 {
				continue
			}
			if err := media.Resolve(p.w, strings.NewReader(text[done:at[0]]), p.item); err != nil {
				return err
			}
			if err := p.missing(mark); err != nil {
				return err
			}
			done = at[1]
		}
		text = text[done:]
	}
	return media.Resolve(p.w, strings.NewReader(text), p.item)
}

// item writes the rendering of one placeholder.
func (p *renderer) item(_ io.Writer, ref media.Ref) error {
	if err := p.ctx.Err(); err != nil {
		return err
	}
	o, ok := p.o.Find(ref)
	if ok && p.o.Mode == ModeDataURI { // check that the bytes exist before anything is written
		r, err := p.o.Codec.Open(p.ctx, o.Digest)
		ok = err == nil && r.Close() == nil
	}
	if !ok {
		return p.missing(string(ref))
	}
	switch {
	case p.w.inAddress():
		return p.address(o)
	case p.w.tags.inside && p.o.Format != FormatText:
		// In an attribute with other text, such as alt, only text makes sense.
		return p.write(html.EscapeString(label(o)))
	}
	before, after := around(o, p.o.Format, p.o.Caption(o))
	if err := p.write(before); err != nil {
		return err
	}
	if err := p.address(o); err != nil {
		return err
	}
	return p.write(after)
}

func (p *renderer) write(s string) error {
	_, err := io.WriteString(p.w, s)
	return err
}

func (p *renderer) address(o media.Output) error {
	p.w.opaque = true
	defer func() { p.w.opaque = false }()
	if p.o.Mode == ModeDataURI {
		if err := p.o.Codec.WriteDataURI(p.ctx, p.w, o.Blob); err != nil {
			return fmt.Errorf("embed %s: %w", o.Ref, err)
		}
		return nil
	}
	addressOf := p.o.URL
	if p.o.Mode == ModeFile {
		addressOf = p.o.File
	}
	address := addressOf(o)
	if p.o.Format == FormatHTML { // the address must not end its attribute
		address = html.EscapeString(address)
	}
	return p.write(address)
}

// anyMark finds placeholders, including broken and escaped ones.
var anyMark = regexp.MustCompile(`\$?\$\{media:[^}"'<>\s]*\}?`)

// WithoutMarks removes every placeholder from a text that cannot contain items, such as a title or
// a label, and joins the text into one line.
func WithoutMarks(text string) string {
	return strings.Join(strings.Fields(anyMark.ReplaceAllString(text, " ")), " ")
}

// label returns the display name of an item.
func label(o media.Output) string {
	return cmp.Or(WithoutMarks(o.Label), string(o.Modality))
}

// around returns the text before and after the address of an item outside an attribute.
func around(o media.Output, f Format, under string) (before, after string) {
	label := label(o)
	switch f {
	case FormatText:
		return "", ""
	case FormatMarkdown:
		plain := strings.NewReplacer("[", "(", "]", ")", `\`, `\\`).Replace(label)
		if o.Modality == media.ModalityImage {
			return "![" + plain + "](", ")"
		}
		return "[" + plain + "](", ")"
	case FormatHTML:
	}
	l := html.EscapeString(label)
	caption := `<figcaption>` + html.EscapeString(under) + `</figcaption></figure>`
	switch o.Modality {
	case media.ModalityImage:
		return `<figure><img src="`, `" alt="` + l + `" title="` + l + `">` + caption
	case media.ModalityAudio:
		return `<figure><audio controls src="`, `"></audio>` + caption
	case media.ModalityVideo:
		return `<figure><video controls src="`, `"></video>` + caption
	case media.ModalityDocument:
	}
	return `<a href="`, `">` + l + `</a>`
}

// missing writes a visible notice in place of a missing item. what is the ref or the broken mark.
func (p *renderer) missing(what string) error {
	name := strings.TrimSuffix(strings.TrimPrefix(what, "${media:"), "}")
	name = strings.Map(func(c rune) rune {
		if strings.ContainsRune("<>&\"'()[]{}$\\`", c) || c < ' ' {
			return '-'
		}
		return c
	}, plain.Clip(media.ErrorText(name), 60))
	var out string
	switch {
	case p.w.inAddress():
		out = missingPicture
	case p.w.tags.inside && p.o.Format != FormatText:
		out = "missing"
	case p.o.Format == FormatHTML:
		out = `<figure class="missing-image" role="img" aria-label="Missing image"><div>Missing image</div><figcaption>` + name + ` is not available.</figcaption></figure>`
	default:
		out = "[missing image: " + name + "]"
	}
	return p.write(out)
}

// missingPicture is the image address of a missing item: a small drawing that says so.
var missingPicture = "data:image/svg+xml," + url.PathEscape(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 240" width="640" height="240" role="img" aria-label="Missing image"><rect x="1" y="1" width="638" height="238" rx="12" fill="#f3f3f1" stroke="#8a8a86" stroke-width="2" stroke-dasharray="8 6"/><text x="320" y="128" font-family="system-ui,sans-serif" font-size="24" fill="#5b5b57" text-anchor="middle">Missing image</text></svg>`)

// FileName returns a file name for an item from its label and ref that is safe on every system:
// lower-case letters, digits and dashes, and the extension of its type.
func FileName(o media.Output) string {
	var b strings.Builder
	for _, c := range strings.ToLower(o.Label) {
		switch {
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
			b.WriteRune(c)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() >= 48 {
			break
		}
	}
	name := strings.Trim(b.String(), "-")
	if name != "" {
		name += "-"
	}
	return name + string(o.Ref) + cmp.Or(extensions[o.MIMEType], ".bin")
}

// IsExtension reports whether ext, with its dot and in any case, is one that [FileName] uses for a type.
func IsExtension(ext string) bool {
	return slices.Contains(slices.Collect(maps.Values(extensions)), strings.ToLower(ext))
}

// extensions maps MIME types to file name extensions; other types use .bin.
var extensions = map[string]string{
	"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp", "image/bmp": ".bmp", "image/avif": ".avif", "image/svg+xml": ".svg",
	"audio/mpeg": ".mp3", "audio/wav": ".wav", "audio/x-wav": ".wav", "audio/wave": ".wav", "audio/flac": ".flac", "audio/ogg": ".ogg", "audio/aac": ".aac",
	"video/mp4": ".mp4", "video/webm": ".webm", "video/quicktime": ".mov",
	"application/pdf": ".pdf", "application/json": ".json", "text/html": ".html", "text/markdown": ".md", "text/plain": ".txt",
}

// Payload writes a JSON payload to w with the placeholders in every string rendered as by [Text].
// Keys keep their order. Unless o.Format is set, the format of a string depends on its key: …html
// is HTML, …markdown or …md is Markdown, and everything else is text.
func Payload(ctx context.Context, w io.Writer, payload json.RawMessage, o Options) error {
	if len(bytes.TrimSpace(payload)) == 0 {
		payload = json.RawMessage("null")
	}
	d := json.NewDecoder(bytes.NewReader(payload))
	d.UseNumber()
	p := payloadWriter{ctx: ctx, w: w, d: d, o: o}
	p.value("")
	return p.err
}

// payloadWriter copies JSON, renders its strings and keeps the first error. It lives for one call.
type payloadWriter struct {
	ctx context.Context //nolint:containedctx // lives for one call.
	w   io.Writer
	d   *json.Decoder
	o   Options
	err error
}

func (p *payloadWriter) value(key string) {
	tok := p.token()
	if open, ok := tok.(json.Delim); ok {
		p.collection(open, key)
		return
	}
	t, _ := tok.(string)
	if p.err != nil || !strings.Contains(t, "${media:") {
		p.write(string(plain.JSON(tok)))
		return
	}
	o := p.o
	o.Format = cmp.Or(o.Format, FormatOf(key))
	p.write(`"`)
	if p.err == nil {
		p.err = Text(p.ctx, jsonEscaper{p.w}, t, o)
	}
	p.write(`"`)
}

func (p *payloadWriter) collection(open json.Delim, key string) {
	p.write(open.String())
	for first := true; p.err == nil && p.d.More(); first = false {
		if !first {
			p.write(",")
		}
		inner := key
		if open == '{' {
			inner, _ = p.token().(string)
			p.write(string(plain.JSON(inner)) + ":")
		}
		p.value(inner)
	}
	closing, _ := p.token().(json.Delim)
	p.write(closing.String())
}

// token reads the next token; nil after an error.
func (p *payloadWriter) token() (tok json.Token) {
	if p.err != nil {
		return nil
	}
	if tok, p.err = p.d.Token(); p.err != nil {
		p.err = media.Errorf(media.CodeInvalid, "the payload is not JSON: %w", p.err)
	}
	return tok
}

func (p *payloadWriter) write(s string) {
	if p.err == nil {
		_, p.err = io.WriteString(p.w, s)
	}
}

// FormatOf returns the format of a payload string from its key.
func FormatOf(key string) Format {
	k := strings.ToLower(key)
	switch {
	case strings.HasSuffix(k, "html"):
		return FormatHTML
	case strings.HasSuffix(k, "markdown"), strings.HasSuffix(k, "md"):
		return FormatMarkdown
	}
	return FormatText
}

// jsonEscaper escapes its input as the contents of a JSON string.
type jsonEscaper struct{ w io.Writer }

func (e jsonEscaper) Write(b []byte) (int, error) {
	if _, err := jsonEscapes.WriteString(e.w, string(b)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// jsonEscapes escapes the characters that must not appear unescaped in a JSON string.
var jsonEscapes = func() *strings.Replacer {
	pairs := []string{`"`, `\"`, `\`, `\\`, "\n", `\n`, "\t", `\t`, "\r", `\r`}
	for c := range ' ' {
		pairs = append(pairs, string(c), fmt.Sprintf(`\u%04x`, c)) // if two pairs have the same character, the first one wins
	}
	return strings.NewReplacer(pairs...)
}()

// tailWriter tracks the position of the end of an HTML or Markdown text.
type tailWriter struct {
	w    io.Writer
	last [2]byte
	tags tagTracker
	// opaque is set while one long address is written: no tag opens or closes in it.
	opaque bool
}

func (t *tailWriter) Write(b []byte) (int, error) {
	switch n := len(b); {
	case n >= 2:
		t.last = [2]byte{b[n-2], b[n-1]}
	case n == 1:
		t.last = [2]byte{t.last[1], b[0]}
	}
	if !t.opaque {
		t.tags.read(b)
	}
	return t.w.Write(b)
}

// inAddress reports whether the next text is in the position of an address: after =" or =' or = in
// a tag, or after ]( in Markdown.
func (t *tailWriter) inAddress() bool {
	a, b := t.last[0], t.last[1]
	if a == ']' && b == '(' {
		return true
	}
	return t.tags.inside && (b == '=' || a == '=' && (b == '"' || b == '\''))
}

// tagTracker tracks whether the end of the text read so far is inside an HTML tag.
type tagTracker struct {
	inside bool
	// opened is set if the last byte was a <, which opens a tag if a letter follows.
	opened bool
	// quote is the quotation mark of the open attribute value; 0 if none is open.
	quote byte
	// word is the last non-blank byte of the tag.
	word byte
}

func (t *tagTracker) read(b []byte) {
	for len(b) > 0 {
		if !t.inside && !t.opened {
			i := bytes.IndexByte(b, '<')
			if i < 0 {
				return
			}
			t.opened, b = true, b[i+1:]
			continue
		}
		t.next(b[0])
		b = b[1:]
	}
}

// next reads one byte at the beginning of or inside a tag.
func (t *tagTracker) next(c byte) {
	switch {
	case t.opened:
		t.opened = c == '<'
		t.inside = c|0x20 >= 'a' && c|0x20 <= 'z'
	case t.quote != 0:
		if c == t.quote {
			t.quote = 0
		}
	case c == '>':
		t.inside = false
	case (c == '"' || c == '\'') && t.word == '=':
		t.quote = c
	}
	if c != ' ' && c != '\n' && c != '\t' && c != '\r' {
		t.word = c
	}
}
