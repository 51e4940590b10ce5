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
	return p.value("")
}

// payloadWriter copies JSON and renders its strings. It lives for one call.
type payloadWriter struct {
	ctx context.Context //nolint:containedctx // lives for one call.
	w   io.Writer
	d   *json.Decoder
	o   Options
}

func (p *payloadWriter) value(key string) error {
	tok, err := p.d.Token()
	if err != nil {
		return media.Errorf(media.CodeInvalid, "the payload is not JSON: %w", err)
	}
	switch t := tok.(type) {
	case json.Delim:
		return p.collection(t, key)
	case string:
		if !strings.Contains(t, "${media:") {
			break
		}
		o := p.o
		o.Format = cmp.Or(o.Format, FormatOf(key))
		if err := p.write(`"`); err != nil {
			return err
		}
		if err := Text(p.ctx, jsonEscaper{p.w}, t, o); err != nil {
			return err
		}
		return p.write(`"`)
	}
	return p.write(string(plain.JSON(tok)))
}

func (p *payloadWriter) collection(open json.Delim, key string) error {
	if err := p.write(open.String()); err != nil {
		return err
	}
	for first := true; p.d.More(); first = false {
		if !first {
			if err := p.write(","); err != nil {
				return err
			}
		}
		inner := key
		if open == '{' {
			tok, err := p.d.Token()
			if err != nil {
				return media.Errorf(media.CodeInvalid, "the payload is not JSON: %w", err)
			}
			inner, _ = tok.(string)
			if err := p.write(string(plain.JSON(inner)) + ":"); err != nil {
				return err
			}
		}
		if err := p.value(inner); err != nil {
			return err
		}
	}
	end, err := p.d.Token()
	if err != nil {
		return media.Errorf(media.CodeInvalid, "the payload is not JSON: %w", err)
	}
	closing, _ := end.(json.Delim)
	return p.write(closing.String())
}

func (p *payloadWriter) write(s string) error {
	_, err := io.WriteString(p.w, s)
	return err
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
