package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"atelier/action"
	"atelier/agent/contract"
	"atelier/agent/internal/object"
	"atelier/agent/internal/plain"
	"atelier/agent/resolve"
	"atelier/media"
)

// intake replaces media in input from people, programs and models with placeholders. It stores the
// media in the run's set and reports it. Media that cannot be stored causes a warning.
type intake struct {
	*core

	threshold int // minimum length at which an action's text becomes a document; 0 is the default
}

// target returns the interceptor's target for media of the run.
func (i *intake) target(source string) action.Target {
	return action.Target{Media: i.set, Source: source, Threshold: i.threshold}
}

// text replaces media in a text from a person or a program; the rest of the text is unchanged.
func (i *intake) text(ctx context.Context, s string) string {
	s, found := i.r.interceptor.Text(ctx, i.target("text"), s)
	i.stored(ctx, found.Media)
	i.warn(ctx, found.Warnings...)
	return s
}

// values replaces media in values from a person or a program. Values without media are returned unchanged.
func (i *intake) values(ctx context.Context, values map[string]any) map[string]any {
	if len(values) == 0 {
		return values
	}
	text := string(plain.JSON(values))
	safe := i.text(ctx, text)
	var out map[string]any
	if safe == text || object.Decode([]byte(safe), &out) != nil {
		return values
	}
	return object.Floats(out)
}

// value replaces media in a value from Go code.
func (i *intake) value(ctx context.Context, source string, v any) any {
	safe := i.r.interceptor.Value(ctx, i.target(source), v)
	i.stored(ctx, safe.Media)
	i.warn(ctx, safe.Warnings...)
	return safe.Value
}

// store reads from r to its end, stores the item and reports it.
func (i *intake) store(ctx context.Context, source string, r io.Reader, m media.Meta) (media.Output, error) {
	o, err := i.r.interceptor.Store(ctx, i.target(source), r, m)
	if err == nil {
		i.stored(ctx, []media.Output{o})
	}
	return o, err
}

// payloadKey marks, in an item's metadata, a document that is a copy of a part of a sub-agent's payload. The copy is
// kept and can be read, but is not listed separately, because the answer contains the part itself.
const payloadKey = "payloadKey"

// excerptLength is the number of characters of a document that a parent sees without requesting it.
const excerptLength = 1500

// shownText is the number of bytes of a text in a sub-agent's payload that its parent sees.
const shownText = 4000

// documentView is a part of a sub-agent's payload that became a document, as the parent's model sees it.
type documentView struct {
	RefID      string `json:"refId"`
	MIMEType   string `json:"mimeType"`
	Label      string `json:"label"`
	Characters int    `json:"characters"`
	Beginning  string `json:"beginning"`
	Note       string `json:"note"`
}

// parentView returns a part of the run's payload as its parent's model sees it: report-like large texts become
// documents, other long texts are cut. The full payload goes where the parent's definition says.
func (r *run) parentView(ctx context.Context, key, s string) any {
	if mime := reportType(key, s); mime != "" && utf8.RuneCountInString(s) >= cmp.Or(r.intake.threshold, action.DefaultThreshold) {
		o, err := r.intake.store(ctx, r.spec.slug, strings.NewReader(s), media.Meta{
			Label: r.spec.name + ": " + plain.Clip(key, 80), MIMEType: mime, Metadata: map[string]any{payloadKey: plain.Clip(key, 80)},
		})
		if err == nil {
			return documentView{
				RefID: string(o.Ref), MIMEType: o.MIMEType, Label: o.Label, Characters: utf8.RuneCountInString(s), Beginning: media.Head(s, excerptLength),
				Note: fmt.Sprintf("View Agent Media continues from Offset %d; %s as the whole value of a payload key is replaced by the text", excerptLength, o.Ref.Placeholder()),
			}
		}
		r.warn(ctx, fmt.Sprintf("%s of agent %s could not be kept as a document: %s", plain.Clip(key, 80), r.spec.slug, err))
	}
	if len(s) <= shownText {
		return s
	}
	return plain.Clip(s, shownText) + " [shortened here; kept whole]"
}

// reportType returns the type of a report-like text, judged by its key or its beginning; empty for other texts.
func reportType(key, s string) string {
	start := strings.TrimSpace(media.Head(s, 200))
	switch resolve.FormatOf(key) {
	case resolve.FormatHTML:
		return "text/html"
	case resolve.FormatMarkdown:
		return "text/markdown"
	case resolve.FormatText:
	}
	switch {
	case strings.HasPrefix(start, "<"):
		return "text/html"
	case strings.HasPrefix(start, "# "), strings.HasPrefix(start, "## "):
		return "text/markdown"
	case strings.Contains(strings.ToLower(key), "report"):
		return "text/plain"
	}
	return ""
}

// isCopy reports whether a document only repeats a part of a run's payload.
func isCopy(payload map[string]any, o media.Output) bool {
	if o.Modality != media.ModalityDocument || o.Metadata[payloadKey] == nil {
		return false
	}
	found := false
	object.EachString(payload, func(s string) {
		found = found || int64(len(s)) == o.SizeBytes && media.DigestOf([]byte(s)) == o.Digest
	})
	return found
}

// inlineDocument replaces a ref with the text of its document, if a report-like part of the payload
// consists only of the ref.
func (r *run) inlineDocument(ctx context.Context) {
	for key, v := range r.draft.Payload {
		s, _ := v.(string)
		if s = strings.TrimSpace(s); s == "" || len(s) > 200 || resolve.FormatOf(key) == resolve.FormatText {
			continue
		}
		o, err := r.set.Find(s)
		if err != nil || !strings.HasPrefix(o.MIMEType, "text/") {
			continue
		}
		text, err := r.documentText(ctx, o)
		if err != nil {
			r.warn(ctx, fmt.Sprintf("%s could not be taken over into %s: %s", o.Ref, plain.Clip(key, 80), err))
			continue
		}
		// A document from outside may contain pictures as data.
		r.draft.Payload = object.Set(r.draft.Payload, map[string]any{key: r.intake.text(ctx, text)})
	}
}

// documentText returns the whole text of a document of the run.
func (r *run) documentText(ctx context.Context, o media.Output) (string, error) {
	if o.SizeBytes > contract.MaxAnswer {
		return "", media.Errorf(media.CodeTooLarge, "it has %d bytes: at most %d are taken over", o.SizeBytes, contract.MaxAnswer)
	}
	f, err := r.r.cfg.Codec.Open(ctx, o.Digest)
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(io.LimitReader(f, contract.MaxAnswer))
	if err = errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	return strings.ToValidUTF8(string(b), "�"), nil
}
