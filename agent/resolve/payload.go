package resolve

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"atelier/agent/internal/plain"
	"atelier/media"
)

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
