package vision

import (
	"context"
	"fmt"
	"io"
	"slices"

	"atelier/agent/internal/plain"
	"atelier/agent/transcript"
	"atelier/chat"
	"atelier/generate"
	"atelier/journal/step"
	"atelier/media"
)

// LostImages determines what happens when bytes of a run's images are missing or damaged after it
// began: in a later turn, or when it is adopted or resumed.
type LostImages string

// The policies. An empty policy means LostDrop.
const (
	// LostDrop continues without the picture. The result, the ledger and the model get the reason.
	LostDrop LostImages = "drop"
	// LostStop ends the run with media.CodeNotFound or media.CodeCorrupt before the model is called
	// again. What was made is kept.
	LostStop LostImages = "stop"
)

// Validate refuses unknown policies.
func (l LostImages) Validate() error {
	switch l {
	case "", LostDrop, LostStop:
		return nil
	}
	return media.Errorf(media.CodeInvalid, "LostImages %q is not known: use drop or stop", plain.Clip(media.ErrorText(string(l)), 20))
}

// LostError reports that pictures of a request are unreadable.
type LostError struct{ List []Lost }

// Lost is an unreadable picture with the reason.
type Lost = step.Lost

// Error implements error.
func (e *LostError) Error() string {
	return fmt.Sprintf("the bytes of %d pictures that the model was to be shown are missing or damaged", len(e.List))
}

// Missing returns the pictures of a request that cannot be read completely. They are read before
// every call, because no provider would notice damaged bytes.
func (v *Sights) Missing(ctx context.Context, messages []chat.Message) (list []Lost) {
	seen := map[media.Digest]bool{}
	for _, m := range messages {
		for _, p := range m.Parts {
			if p.Media == nil || seen[p.Media.Digest] {
				continue
			}
			seen[p.Media.Digest] = true
			if code := v.readable(ctx, p.Media.Digest); code != "" {
				list = append(list, Lost{Digest: p.Media.Digest, Code: code})
			}
		}
	}
	return list
}

// readable returns media.CodeNotFound or media.CodeCorrupt for missing or damaged bytes. It ignores
// other errors, which the call itself will report.
func (v *Sights) readable(ctx context.Context, d media.Digest) media.Code {
	in, err := v.Blobs.Open(ctx, d)
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

// DropUnreadable removes unreadable pictures from what the model is shown. It ends the run if such a picture
// came with the task and the policy is LostStop.
func (v *Sights) DropUnreadable(ctx context.Context, h *transcript.History, e *LostError) error {
	for _, l := range e.List {
		reason := "its bytes are missing"
		if l.Code == media.CodeCorrupt {
			reason = "its bytes are damaged"
		}
		for _, ref := range h.RemovePicture(l.Digest, reason) {
			given := slices.ContainsFunc(v.Given, func(i InputImage) bool { return i.Ref == ref })
			if given && v.Lost == LostStop {
				return media.Errorf(l.Code, "%s can no longer be shown to agent %s: %s: start again and give the picture again, or try the run again without it (lost images: drop)", ref, v.Agent, reason)
			}
			v.Warn(ctx, fmt.Sprintf("%s is no longer shown to agent %s: %s: give the picture again if it matters", ref, v.Agent, reason))
			v.RecordDisposition(generate.Disposition{Setting: "image", Asked: string(ref), Outcome: generate.OutcomeDropped, Reason: reason})
		}
	}
	return nil
}
