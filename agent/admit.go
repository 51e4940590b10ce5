package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"atelier/chat"
	"atelier/generate"
	"atelier/journal/step"
	"atelier/media"
)

// admission is what became of the pictures of a task, as the journal remembers it.
type admission struct {
	Shown []fitted `json:"shown,omitempty"`
	Left  []left   `json:"left,omitempty"`
	// Settings of the pictures that the model does not have.
	Settings []generate.Disposition `json:"settings,omitempty"`
}

// left is a picture that is not shown, and why.
type left struct {
	Ref media.Ref `json:"ref"`
	Why string    `json:"why"`
}

// leave notes a picture that is not shown.
func (a *admission) leave(ref media.Ref, why string) {
	a.Left = append(a.Left, left{Ref: ref, Why: clip(media.ErrorText(why), 300)})
}

// gate tells before the run begins whether its model takes pictures: their number, their
// types, and that they can be made small enough. Who is lenient, has no model, or was let in
// before, is not asked.
func (r *run) gate(ctx context.Context, pictures []media.Output) error {
	if r.lenient || r.spec.def == nil || r.request.Admitted {
		return nil
	}
	c, err := r.r.cfg.Models.Choose(ctx, append(slices.Clone(r.prefer.chat), r.spec.def.ChatModels...))
	if err != nil {
		return nil //nolint:nilerr // without a model the run itself fails, and says so
	}
	p, n := c.Model.Profile(), len(pictures)
	if err := p.Gate(n, seeing(r.r.cfg.Models, n)); err != nil {
		return fmt.Errorf("agent %s: %w", r.spec.slug, err)
	}
	for i, o := range pictures {
		if err := p.Sees(o); err != nil {
			return fmt.Errorf("image %d: show it to agent %s: %w", i+1, r.spec.slug, err)
		}
	}
	return r.tryOn(ctx, p, pictures)
}

// admitImages gives the pictures of the task as the model takes them. What it does not
// take is an error, or is left out with a warning where the run is lenient. It is one
// durable step: whoever goes on with the run converts and records nothing again.
func (r *run) admitImages(ctx context.Context) ([]sight, error) {
	if len(r.images) == 0 {
		return nil, nil
	}
	b, err := r.journal.Step(ctx, step.Name{Kind: step.KindImages}.String(), func(ctx context.Context) ([]byte, error) {
		a, err := r.admission(ctx)
		if err != nil {
			return nil, err
		}
		return json.Marshal(a)
	})
	if err != nil {
		return nil, err
	}
	var a admission
	if err := json.Unmarshal(b, &a); err != nil {
		return nil, media.Errorf(media.CodeInternal, "read journalled pictures: %w", err)
	}
	for _, l := range a.Left {
		r.leaveOut(ctx, l.Ref, l.Why)
	}
	for _, d := range a.Settings {
		r.dispose(d)
	}
	var list []sight
	for _, f := range a.Shown {
		list = append(list, r.sight(ctx, f))
	}
	return list, nil
}

// admission decides about the pictures of the task.
func (r *run) admission(ctx context.Context) (admission, error) {
	var a admission
	p, images := r.model.Profile(), r.images
	if err := p.Gate(len(images), seeing(r.r.cfg.Models, len(images))); err != nil {
		if !r.lenient {
			return a, fmt.Errorf("agent %s: %w", r.spec.slug, err)
		}
		most, why := 0, fmt.Sprintf("%s takes no pictures", p)
		if p.SupportsVision {
			most, why = p.MaxImages, fmt.Sprintf("%s takes %d pictures in one request", p, p.MaxImages)
		}
		for _, i := range images[most:] {
			a.leave(i.Ref, why)
		}
		images = images[:most]
	}
	first := a
	if err := r.fitAll(ctx, &a, images, 0); err != nil {
		return a, err
	}
	if most := p.MaxTotalImageBytes; most > 0 && a.bytes() > most {
		// All are made smaller where together they are over the limit of a request.
		share := most / int64(len(a.Shown))
		a = first
		return a, r.fitAll(ctx, &a, images, share)
	}
	return a, nil
}

// fitAll fits pictures, each within most bytes; 0 leaves that to the profile.
func (r *run) fitAll(ctx context.Context, a *admission, images []InputImage, most int64) error {
	for _, i := range images {
		o, ok := r.set.Lookup(i.Ref)
		if !ok {
			continue // it could not be granted, which was told
		}
		f, err := r.convert(ctx, o, chat.Room{Images: len(images), MaxBytes: most})
		if err != nil {
			if ctx.Err() != nil || !r.lenient {
				return fmt.Errorf("show %s to agent %s: %w", o.Ref, r.spec.slug, err)
			}
			a.leave(i.Ref, err.Error())
			continue
		}
		f.Detail = i.Detail
		if p := r.model.Profile(); i.Detail != "" && i.Detail != "auto" && !p.Detail {
			f.Detail = ""
			a.Settings = append(a.Settings, noDetail(p, i))
		}
		a.Shown = append(a.Shown, f)
	}
	return nil
}

// noDetail is what becomes of a detail that the model does not have.
func noDetail(p chat.Profile, i InputImage) generate.Disposition {
	return generate.Disposition{
		Setting: "image_detail", Asked: i.Detail, Outcome: generate.OutcomeDropped, Reason: p.Name + " cannot be told how closely to look",
	}
}

func (a *admission) bytes() (n int64) {
	for _, f := range a.Shown {
		n += f.Shown.SizeBytes
	}
	return n
}

// leaveOut tells result, ledger and model that a picture is not shown.
func (r *run) leaveOut(ctx context.Context, ref media.Ref, why string) {
	r.warn(ctx, fmt.Sprintf("%s is not shown to agent %s: %s", ref, r.spec.slug, why))
	r.dispose(generate.Disposition{Setting: "image", Asked: string(ref), Outcome: generate.OutcomeDropped, Reason: why})
	r.unseen = append(r.unseen, fmt.Sprintf("You cannot see %s: %s.", ref, why))
}
