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
	"atelier/media"
)

// payloadKey marks, in an item's metadata, a document that is a copy of a part of a
// sub-agent's payload. It is kept and can be read; the part itself stands in the
// answer, so the copy is not listed beside it.
const payloadKey = "payloadKey"

// beginning is how many characters of a document a parent sees unasked.
const beginning = 1500

// documentView is a part of a sub-agent's payload that became a document, as the
// parent's model sees it.
type documentView struct {
	RefID      string `json:"refId"`
	MIMEType   string `json:"mimeType"`
	Label      string `json:"label"`
	Characters int    `json:"characters"`
	Beginning  string `json:"beginning"`
	Note       string `json:"note"`
}

// shown is a finished run's payload as its parent's model sees it: report-like parts
// that are large text are documents, other long texts are cut. The whole payload goes
// where the parent's definition says.
func (r *run) shown(ctx context.Context) map[string]any {
	if r.payload == nil {
		return nil
	}
	ctx = media.WithScope(ctx, media.Scope{Owner: r.owner, Tree: r.tree, Run: r.id, AgentPath: r.path})
	short, _ := r.shownPart(ctx, "", r.payload).(map[string]any)
	return short
}

func (r *run) shownPart(ctx context.Context, key string, v any) any {
	switch t := v.(type) {
	case string:
		return r.shownText(ctx, key, t)
	case []any:
		out := make([]any, len(t))
		for i, e := range t {
			out[i] = r.shownPart(ctx, key, e)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(t))
		for k, e := range t {
			out[k] = r.shownPart(ctx, k, e)
		}
		return out
	}
	return v
}

func (r *run) shownText(ctx context.Context, key, s string) any {
	if mime := reportType(key, s); mime != "" && utf8.RuneCountInString(s) >= r.largeText() {
		o, err := r.keepDocument(ctx, key, mime, s)
		if err == nil {
			return documentView{
				RefID: string(o.Ref), MIMEType: o.MIMEType, Label: o.Label, Characters: utf8.RuneCountInString(s), Beginning: head(s, beginning),
				Note: fmt.Sprintf("View Agent Media reads on from Offset %d; %s as a whole value of your payload takes the text over", beginning, o.Ref.Placeholder()),
			}
		}
		r.warn(ctx, fmt.Sprintf("%s of agent %s could not be kept as a document: %s", clip(key, 80), r.spec.slug, err))
	}
	if len(s) <= shownText {
		return s
	}
	return clip(s, shownText) + " [shortened here; kept whole]"
}

// largeText is the length in characters from which report-like text is a document.
func (r *run) largeText() int {
	if r.spec.def == nil {
		return action.DefaultThreshold
	}
	return cmp.Or(r.spec.def.InterceptionThreshold, action.DefaultThreshold)
}

// reportType is the type of a text that is like a report, by its key or its looks;
// empty for other texts.
func reportType(key, s string) string {
	start := strings.TrimSpace(head(s, 200))
	switch formatOf(key) {
	case FormatHTML:
		return "text/html"
	case FormatMarkdown:
		return "text/markdown"
	case FormatText:
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

// keepDocument stores and records a part of the payload, and adds it to the set.
func (r *run) keepDocument(ctx context.Context, key, mime, s string) (media.Output, error) {
	o, err := r.r.interceptor.Store(ctx, r.target(r.spec.slug), strings.NewReader(s), media.Meta{
		Label: r.spec.name + ": " + clip(key, 80), MIMEType: mime, Metadata: map[string]any{payloadKey: clip(key, 80)},
	})
	if err == nil {
		r.stored(ctx, []media.Output{o})
	}
	return o, err
}

// isCopy tells a document that only repeats a part of a run's payload.
func isCopy(payload map[string]any, o media.Output) bool {
	if o.Modality != media.ModalityDocument || o.Metadata[payloadKey] == nil {
		return false
	}
	found := false
	eachString(payload, func(s string) {
		found = found || int64(len(s)) == o.SizeBytes && media.DigestOf([]byte(s)) == o.Digest
	})
	return found
}

// takeOver puts the text of a document in the place of its ref, where a report-like
// part of the payload is the ref and nothing else.
func (r *run) takeOver(ctx context.Context) {
	for key, v := range r.payload {
		s, _ := v.(string)
		if s = strings.TrimSpace(s); s == "" || len(s) > 200 || formatOf(key) == FormatText {
			continue
		}
		o, err := r.set.Find(s)
		if err != nil || !strings.HasPrefix(o.MIMEType, "text/") {
			continue
		}
		text, err := r.readText(ctx, o)
		if err != nil {
			r.warn(ctx, fmt.Sprintf("%s could not be taken over into %s: %s", o.Ref, clip(key, 80), err))
			continue
		}
		// A document from outside may hold pictures as data.
		r.payload = setKeys(r.payload, map[string]any{key: r.cleanText(ctx, text)})
	}
}

// readText reads a document of the run whole.
func (r *run) readText(ctx context.Context, o media.Output) (string, error) {
	if o.SizeBytes > maxAnswer {
		return "", media.Errorf(media.CodeTooLarge, "it has %d bytes: at most %d are taken over", o.SizeBytes, maxAnswer)
	}
	f, err := r.r.cfg.Codec.Open(ctx, o.Digest)
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(io.LimitReader(f, maxAnswer))
	if err = errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	return strings.ToValidUTF8(string(b), "�"), nil
}
