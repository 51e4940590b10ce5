package agent

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"atelier/media"
	"atelier/wire"
)

// follow does what a step asks for and reports whether the run is done.
func (r *run) follow(ctx context.Context, s *Step) (bool, error) {
	inquiry, err := s.Ask.inquiry()
	if err != nil {
		return false, err
	}
	r.apply(ctx, s)
	unknown := r.promote(ctx, s.Promote)
	if (s.acts() || s.Ask != nil) && r.lastTurn != "" {
		r.warn(ctx, r.lastTurn+": what the last answer asked for was not run")
		if !s.Done {
			return false, nil
		}
		s.Actions, s.Agents, s.Ask = nil, nil, nil
	}
	if s.acts() || s.Ask != nil {
		res := r.doAll(ctx, s)
		if res.waits() {
			return false, ErrPaused
		}
		if len(unknown) > 0 {
			res.Errors = append(res.Errors, problemOf(r.set.Unknown(unknown...)))
		}
		if s.Done {
			res.Warnings = append(res.Warnings, "done was not taken: look at these results first, then answer with done again")
		}
		if s.Ask != nil && ctx.Err() == nil {
			if err := r.consult(ctx, inquiry, &res); err != nil {
				return false, err
			}
		}
		r.tell(res)
		return false, ctx.Err()
	}
	unfit := r.unfitPayload()
	if r.sendBack(slices.Concat(unknown, r.unknownRefs()), unfit) {
		return false, nil
	}
	if unfit != nil {
		return false, media.Errorf(media.CodeBadResponse, "agent %s: %w; what it made is kept", r.spec.slug, unfit)
	}
	if len(unknown) > 0 {
		r.warn(ctx, "media that does not exist was chosen for the answer ("+strings.Join(unknown, ", ")+"): it is left out")
	}
	r.acceptRefs(ctx)
	return true, nil
}

// sendBack tells the model once of refs that mean nothing, and once of a payload that
// does not fit. It reports whether the model shall answer again.
func (r *run) sendBack(unknown []string, unfit error) bool {
	if r.lastTurn != "" {
		return false
	}
	var res results
	if len(unknown) > 0 && !r.refsSentBack {
		r.refsSentBack = true
		res.Errors = append(res.Errors, problemOf(r.set.Unknown(unknown...)))
	}
	if unfit != nil && !r.payloadSentBack {
		r.payloadSentBack = true
		res.Errors = append(res.Errors, problemOf(unfit))
	}
	if len(res.Errors) == 0 {
		return false
	}
	r.tell(res)
	return true
}

// apply takes over message and payload.
func (r *run) apply(ctx context.Context, s *Step) {
	if s.Message != "" {
		r.message = r.knownRefs(s.Message)
		if r.depth == 0 {
			r.emit(ctx, EventMessageDelta, MessageDelta{Text: r.message})
		}
	}
	if s.Payload != nil {
		r.payload = setKeys(r.payload, s.Payload)
	}
	if s.PayloadPatch != nil {
		r.payload = mergePatch(r.payload, s.PayloadPatch)
	}
	if s.Payload != nil || s.PayloadPatch != nil {
		r.takeOver(ctx)
	}
	if r.payload != nil {
		r.payload, _ = mapStrings(r.payload, r.knownRefs).(map[string]any)
	}
}

// promote chooses items for the answer and returns the refs that mean nothing here.
func (r *run) promote(_ context.Context, list []Promotion) (unknown []string) {
	for _, p := range list {
		o, err := r.set.Find(p.Ref)
		if err != nil {
			unknown = append(unknown, clip(p.Ref, 80))
			continue
		}
		r.set.Promote(o.Ref, clip(wire.NameMedia(p.Label), 500), clip(wire.NameMedia(p.Description), 4000))
	}
	return unknown
}

// unknownRefs lists what looks like a ref in the answer and means nothing here.
func (r *run) unknownRefs() (unknown []string) {
	seen := map[string]bool{}
	note := func(ref string) {
		if !seen[ref] {
			seen[ref] = true
			unknown = append(unknown, clip(ref, 80))
		}
	}
	look := func(s string) {
		if !strings.Contains(s, "${media:") {
			return
		}
		for _, bad := range r.set.Strange(s) {
			note(bad)
		}
	}
	look(r.message)
	eachString(r.payload, look)
	return sorted(unknown)
}

// acceptRefs ends the answer: the root promotes what it embeds, and refs that still
// mean nothing are told. They render as a visible missing image.
func (r *run) acceptRefs(ctx context.Context) {
	if unknown := r.unknownRefs(); len(unknown) > 0 {
		r.warn(ctx, "the answer embeds media that does not exist ("+strings.Join(unknown, ", ")+"): it is shown as missing")
	}
	if r.depth > 0 {
		return
	}
	embed := func(s string) {
		for _, ref := range media.Refs(s) {
			r.set.Promote(ref, "", "")
		}
	}
	embed(r.message)
	eachString(r.payload, embed)
}

var (
	// looseRef finds refs where an address belongs: in src and href attributes and
	// in Markdown links, bare, as one of our media URLs, or as a placeholder with a
	// path before it.
	looseRef = regexp.MustCompile(`(?i)((?:src|href)\s*=\s*["']|\]\()\s*(?:[^"'()\s]*/)?(?:\$\{media:)?((?:img|aud|vid|doc)-[0-9a-z]{8})\}?(?:\.[a-z0-9]{1,5})?\s*(["')])`)
	// looseMark finds placeholders in another case or with blanks inside.
	looseMark = regexp.MustCompile(`(?i)(\$?)\$\{\s*media\s*:\s*((?:img|aud|vid|doc)-[0-9a-z]{8})\s*\}`)
)

// knownRefs writes every ref of this run that a model gave in another form (bare,
// as a URL, in capitals) as a placeholder. Unknown ones stay as they are.
func (r *run) knownRefs(s string) string {
	if !hasRefShape(s) {
		return s
	}
	known := func(text string) (media.Ref, bool) {
		o, err := r.set.Find(strings.ToLower(text))
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

// hasRefShape keeps the expressions away from texts without any ref.
func hasRefShape(s string) bool {
	for _, p := range []string{"img-", "aud-", "vid-", "doc-", "IMG-", "AUD-", "VID-", "DOC-", "Img-"} {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
}
