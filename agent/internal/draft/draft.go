// Package draft holds the answer of a run in progress: its message, its payload and the media that they name. It has no
// errors of its own. It may import action, media, media/wire and agent's other packages.
package draft

import (
	"regexp"
	"slices"
	"strings"

	"atelier/action"
	"atelier/agent/contract"
	"atelier/agent/internal/object"
	"atelier/agent/internal/plain"
	"atelier/agent/transcript"
	"atelier/media"
	"atelier/media/wire"
)

// Draft is the answer of a run so far. Refs that the run knows are written as placeholders.
type Draft struct {
	Set             *media.Set // the run's media
	Message         string
	Payload         map[string]any
	refsSentBack    bool // unknown refs were returned to the model once
	payloadSentBack bool // a payload that does not match was returned once
}

// Corrections returns the problems that the model must correct, each kind at most once: unknown refs,
// and a payload that does not match.
func (d *Draft) Corrections(unknown []string, unfit error) (problems []action.Problem) {
	if len(unknown) > 0 && !d.refsSentBack {
		d.refsSentBack = true
		problems = append(problems, transcript.Problem(d.Set.Unknown(unknown...)))
	}
	if unfit != nil && !d.payloadSentBack {
		d.payloadSentBack = true
		problems = append(problems, transcript.Problem(unfit))
	}
	return problems
}

// Promote chooses items for the answer and returns the unknown refs.
func (d *Draft) Promote(list []contract.Promotion) (unknown []string) {
	for _, p := range list {
		o, err := d.Set.Find(p.Ref)
		if err != nil {
			unknown = append(unknown, plain.Clip(p.Ref, 80))
			continue
		}
		d.Set.Promote(o.Ref, media.ClipLabel(wire.NameMedia(p.Label)), plain.Clip(wire.NameMedia(p.Description), 4000))
	}
	return unknown
}

// UnknownRefs returns the unknown refs in the answer.
func (d *Draft) UnknownRefs() (unknown []string) {
	look := func(s string) {
		if !strings.Contains(s, "${media:") {
			return
		}
		for _, bad := range d.Set.UnknownPlaceholders(s) {
			unknown = append(unknown, plain.Clip(bad, 80))
		}
	}
	look(d.Message)
	object.EachString(d.Payload, look)
	slices.Sort(unknown)
	return slices.Compact(unknown)
}

// PromoteEmbedded chooses the items embedded in the answer.
func (d *Draft) PromoteEmbedded() {
	embed := func(s string) {
		for _, ref := range media.Refs(s) {
			d.Set.Promote(ref, "", "")
		}
	}
	embed(d.Message)
	object.EachString(d.Payload, embed)
}

var (
	// looseRef matches refs in place of an address: in src and href attributes and in Markdown
	// links, either bare, as a media URL of this program, or as a placeholder after a path.
	looseRef = regexp.MustCompile(`(?i)((?:src|href)\s*=\s*["']|\]\()\s*(?:[^"'()\s]*/)?(?:\$\{media:)?((?:img|aud|vid|doc)-[0-9a-z]{8})\}?(?:\.[a-z0-9]{1,5})?\s*(["')])`)
	// looseMark matches placeholders in another case or with blanks inside.
	looseMark = regexp.MustCompile(`(?i)(\$?)\$\{\s*media\s*:\s*((?:img|aud|vid|doc)-[0-9a-z]{8})\s*\}`)
)

// KnownRefs replaces every ref of this run that a model wrote in another form (bare, as a URL, in
// capitals) with a placeholder. Unknown refs stay as they are.
func (d *Draft) KnownRefs(s string) string {
	shapes := []string{"img-", "aud-", "vid-", "doc-", "IMG-", "AUD-", "VID-", "DOC-", "Img-"}
	if !slices.ContainsFunc(shapes, func(p string) bool { return strings.Contains(s, p) }) { // avoid the regular expressions
		return s
	}
	known := func(text string) (media.Ref, bool) {
		o, err := d.Set.Find(strings.ToLower(text))
		return o.Ref, err == nil
	}
	s = looseMark.ReplaceAllStringFunc(s, func(m string) string {
		part := looseMark.FindStringSubmatch(m)
		if ref, ok := known(part[2]); ok && part[1] == "" {
			return ref.Placeholder()
		}
		return m
	})
	return looseRef.ReplaceAllStringFunc(s, func(m string) string {
		part := looseRef.FindStringSubmatch(m)
		if ref, ok := known(part[2]); ok {
			return part[1] + ref.Placeholder() + part[3]
		}
		return m
	})
}

// InUse returns why an item must stay in sight: the answer so far embeds it. Otherwise it returns "".
func (d *Draft) InUse(ref media.Ref) string {
	used := false
	look := func(s string) { used = used || slices.Contains(media.Refs(s), ref) }
	look(d.Message)
	object.EachString(d.Payload, look)
	if used {
		return "it is embedded in the answer"
	}
	return ""
}
