package agent

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"atelier/chat"
	"atelier/generate"
	"atelier/media"
)

// LostImages says what becomes of a run when bytes of its images are missing or damaged
// after it began: in a later turn, or when it is taken over or resumed.
type LostImages string

// The policies. The empty one is LostDrop.
const (
	// LostDrop goes on without the picture: result, ledger and model are told.
	LostDrop LostImages = "drop"
	// LostStop ends the run with media.CodeNotFound or media.CodeCorrupt before the model
	// is asked again. What was made is kept.
	LostStop LostImages = "stop"
)

func (l LostImages) validate() error {
	switch l {
	case "", LostDrop, LostStop:
		return nil
	}
	return media.Errorf(media.CodeInvalid, "LostImages %q is not known: use drop or stop", clip(media.ErrorText(string(l)), 20))
}

// lostError tells that pictures of a request cannot be read any more.
type lostError struct{ list []lost }

// lost is a picture that cannot be read, and why.
type lost struct {
	Digest media.Digest `json:"digest"`
	Code   media.Code   `json:"code"`
}

// Error implements error.
func (e *lostError) Error() string {
	return fmt.Sprintf("the bytes of %d pictures that the model was to be shown are missing or damaged", len(e.list))
}

// missing lists the pictures of a request that cannot be read whole. They are read before
// every call, because no provider would notice damaged bytes.
func (r *run) missing(ctx context.Context, messages []chat.Message) (list []lost) {
	seen := map[media.Digest]bool{}
	for _, m := range messages {
		for _, p := range m.Parts {
			if p.Media == nil || seen[p.Media.Digest] {
				continue
			}
			seen[p.Media.Digest] = true
			if code := r.readable(ctx, p.Media.Digest); code != "" {
				list = append(list, lost{Digest: p.Media.Digest, Code: code})
			}
		}
	}
	return list
}

// readable gives media.CodeNotFound or media.CodeCorrupt for bytes that are not there.
// Where the store cannot tell, the call will.
func (r *run) readable(ctx context.Context, d media.Digest) media.Code {
	in, err := r.r.cfg.Codec.Open(ctx, d)
	if err == nil {
		_, err = io.Copy(io.Discard, in)
		_ = in.Close() // only read
	}
	switch code := media.CodeOf(err); code {
	case media.CodeNotFound, media.CodeCorrupt:
		return code
	default:
		return ""
	}
}

// lose takes pictures that cannot be read out of what the model is shown, or ends the
// run where one came with the task and the run shall stop for that.
func (r *run) lose(ctx context.Context, e *lostError) error {
	for _, l := range e.list {
		why := "its bytes are missing"
		if l.Code == media.CodeCorrupt {
			why = "its bytes are damaged"
		}
		for _, ref := range r.history.unshowDigest(l.Digest, why) {
			given := slices.ContainsFunc(r.images, func(i InputImage) bool { return i.Ref == ref })
			if given && r.lostImages == LostStop {
				return media.Errorf(l.Code, "%s can no longer be shown to agent %s: %s: start anew and give the picture again, or try the run again without it (lost images: drop)", ref, r.spec.slug, why)
			}
			r.warn(ctx, fmt.Sprintf("%s is no longer shown to agent %s: %s: give the picture again if it matters", ref, r.spec.slug, why))
			r.dispose(generate.Disposition{Setting: "image", Asked: string(ref), Outcome: generate.OutcomeDropped, Reason: why})
		}
	}
	return nil
}

// unshowDigest takes a picture out of all messages, tells the model why, and gives the
// refs under which it was shown.
func (h *history) unshowDigest(d media.Digest, why string) (refs []media.Ref) {
	for i := range h.entries {
		e := &h.entries[i]
		views := &[]sight{}
		switch {
		case e.opening != nil:
			views = &e.opening.images
		case e.results != nil:
			views = &e.results.views
		}
		var gone []string
		*views = slices.DeleteFunc(*views, func(s sight) bool {
			if s.shown.Digest != d {
				return false
			}
			gone = append(gone, fmt.Sprintf("You cannot see %s any more: %s.", s.ref, why))
			if !slices.Contains(refs, s.ref) {
				refs = append(refs, s.ref)
			}
			return true
		})
		switch {
		case len(gone) == 0:
			continue
		case e.opening != nil:
			e.opening.unseen = append(e.opening.unseen, gone...)
		default:
			e.results.Warnings = append(e.results.Warnings, strings.Join(gone, " "))
		}
		e.render()
	}
	return refs
}
