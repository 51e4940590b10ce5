package agent

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"atelier/action"
	"atelier/generate"
	"atelier/media"
)

// drawn is what became of the pictures that a run and its sub-agents asked image models for.
type drawn struct {
	asked, made bool
	why         string // of the last call that made none
}

func (d *drawn) add(e drawn) {
	d.asked, d.made = d.asked || e.asked, d.made || e.made
	d.why = cmp.Or(e.why, d.why)
}

// drew notes what became of an action that asks an image model for pictures.
func (r *run) drew(out action.Outcome) {
	if errors.Is(out.Err, ErrPaused) {
		return
	}
	if s := out.Substituted; s != nil {
		r.dispose(generate.Disposition{Setting: ImageModelSetting, Asked: s.Asked, Applied: s.Applied, Outcome: generate.OutcomeSubstituted, Reason: s.Reason})
	}
	a, err := r.r.cfg.Actions.Lookup(out.Name)
	if err != nil || !slices.Contains(a.Tags, action.TagPicture) {
		return
	}
	d := drawn{asked: true, made: slices.ContainsFunc(out.Media, func(o media.Output) bool { return o.Modality == media.ModalityImage })}
	if !d.made {
		d.why = a.Name + ": " + out.Message
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drawn.add(d)
}

// missPictures warns of a run that asked for pictures and got none.
func (r *run) missPictures(ctx context.Context) {
	r.mu.Lock()
	d := r.drawn
	r.mu.Unlock()
	if r.depth == 0 && d.asked && !d.made {
		r.warn(ctx, "the run asked for a picture and none was made: "+d.why)
	}
}
