package agent

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"atelier/chat"
	"atelier/generate"
	"atelier/media"
)

// The budget of pictures that a model asks to look at in one turn, where its profile
// names none that is smaller.
const (
	maxViews     = 4
	maxViewBytes = 8 << 20
)

// sight is a picture that the model is shown.
type sight struct {
	// ref is the item of the run; shown the form in which the model takes it.
	ref    media.Ref
	shown  media.Output
	detail string
	// turns is for how many turns it stays after its message.
	turns int
	// given marks pictures that came with an answer, policy those that nobody asked for.
	given, policy bool
}

// partsOf puts pictures into a message, each behind its ref.
func partsOf(list []sight) []chat.Part {
	var out []chat.Part
	for _, s := range list {
		out = append(out, chat.Part{Text: "\n" + string(s.ref) + ":"}, chat.Part{Media: &s.shown, Detail: s.detail})
	}
	return out
}

// fit gives a picture of the run in the form that its model takes, and notes what had
// to change. together is how many pictures the model then sees.
func (r *run) fit(ctx context.Context, o media.Output, room chat.Room) (sight, error) {
	f, err := r.model.Profile().Fit(ctx, r.r.cfg.Codec, o, room)
	if err != nil {
		return sight{}, err
	}
	if f.Reason == "" {
		return sight{ref: o.Ref, shown: f.Output}, nil
	}
	if r.r.cfg.Recorder != nil {
		recorded, err := r.r.cfg.Recorder.Record(context.WithoutCancel(ctx), f.Output)
		if err != nil {
			r.warn(ctx, fmt.Sprintf("the smaller form of %s was not recorded: %s", o.Ref, err))
		} else {
			f.Output = recorded
		}
	}
	r.dispose(ctx, generate.Disposition{
		Setting: "image", Asked: describePicture(o), Applied: describePicture(f.Output), Outcome: generate.OutcomeAdapted, Reason: f.Reason,
	})
	return sight{ref: o.Ref, shown: f.Output}, nil
}

// describePicture is a picture in a disposition.
func describePicture(o media.Output) string {
	return fmt.Sprintf("%s: %s, %d × %d, %d bytes", o.Ref, o.MIMEType, o.Width, o.Height, o.SizeBytes)
}

// dispose notes what became of something that was asked for, once.
func (r *run) dispose(_ context.Context, d generate.Disposition) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.dispositions, d) {
		r.dispositions = append(r.dispositions, d)
	}
}

// admitImages gives the pictures of the task as the model takes them. What it does not
// take is an error, or is left out with a warning where the run is lenient.
func (r *run) admitImages(ctx context.Context) ([]sight, error) {
	p := r.model.Profile()
	images := r.images
	if err := p.Gate(len(images), seeing(r.r.cfg.Models, len(images))); err != nil {
		if !r.lenient {
			return nil, fmt.Errorf("agent %s: %w", r.spec.slug, err)
		}
		most := 0
		if p.SupportsVision {
			most = p.MaxImages
		}
		why := fmt.Sprintf("%s takes %d pictures in one request", p, most)
		if most == 0 {
			why = fmt.Sprintf("%s takes no pictures", p)
		}
		for _, i := range images[most:] {
			r.leaveOut(ctx, i.Ref, why)
		}
		images = images[:most]
	}
	list, err := r.fitAll(ctx, images, 0)
	if err != nil {
		return nil, err
	}
	return r.withinTotal(ctx, images, list)
}

// fitAll fits pictures, each within most bytes; 0 leaves that to the profile.
func (r *run) fitAll(ctx context.Context, images []InputImage, most int64) ([]sight, error) {
	var list []sight
	for _, i := range images {
		o, ok := r.set.Lookup(i.Ref)
		if !ok {
			continue // it could not be granted, which was told
		}
		s, err := r.fit(ctx, o, chat.Room{Images: len(images), MaxBytes: most})
		if err != nil {
			if ctx.Err() != nil || !r.lenient {
				return nil, fmt.Errorf("show %s to agent %s: %w", o.Ref, r.spec.slug, err)
			}
			r.leaveOut(ctx, i.Ref, err.Error())
			continue
		}
		s.detail = i.Detail
		list = append(list, s)
	}
	return list, nil
}

// withinTotal makes all pictures smaller where together they are over the limit of a
// request.
func (r *run) withinTotal(ctx context.Context, images []InputImage, list []sight) ([]sight, error) {
	most := r.model.Profile().MaxTotalImageBytes
	if most == 0 || bytesOf(list) <= most {
		return list, nil
	}
	return r.fitAll(ctx, images, most/int64(len(list)))
}

func bytesOf(list []sight) (n int64) {
	for _, s := range list {
		n += s.shown.SizeBytes
	}
	return n
}

// leaveOut tells result, ledger and model that a picture is not shown.
func (r *run) leaveOut(ctx context.Context, ref media.Ref, why string) {
	why = clip(media.Scrub(why), 300)
	r.warn(ctx, fmt.Sprintf("%s is not shown to agent %s: %s", ref, r.spec.slug, why))
	r.dispose(ctx, generate.Disposition{Setting: "image", Asked: string(ref), Outcome: generate.OutcomeDropped, Reason: why})
	r.unseen = append(r.unseen, fmt.Sprintf("You cannot see %s: %s.", ref, why))
}

// canSee is nil if the run's model can be shown the pixels of an item.
func (r *run) canSee(o media.Output) error {
	if r.model == nil {
		return media.Errorf(media.CodeUnsupported, "this agent has no chat model that could look at pictures")
	}
	p := r.model.Profile()
	if !p.SupportsVision {
		return media.Errorf(media.CodeUnsupported, "%s cannot see pictures: go by label, description and details", p.Name)
	}
	return p.Sees(o)
}

// look gathers the pictures that acts of a step want to be seen, within the budget.
func (r *run) look(ctx context.Context, res *results, changes []media.Change) {
	most := maxViews
	if r.model != nil {
		most = min(most, cmp.Or(r.model.Profile().MaxImages, maxViews))
	}
	for _, c := range changes {
		o, ok := r.set.Lookup(c.Ref)
		if c.Kind != media.ChangeView || !ok || res.shows(c.Ref) {
			continue
		}
		if len(res.views) == most || bytesOf(res.views) >= maxViewBytes {
			r.hide(ctx, res, o.Ref, fmt.Sprintf("a turn has room for %d pictures and %d bytes", most, maxViewBytes))
			continue
		}
		s, err := r.fit(ctx, o, chat.Room{Images: most, MaxBytes: maxViewBytes - bytesOf(res.views)})
		if err != nil {
			r.hide(ctx, res, o.Ref, err.Error())
			continue
		}
		s.turns = viewTurns
		res.views = append(res.views, s)
	}
}

// hide tells that a picture which was asked for is not shown.
func (r *run) hide(ctx context.Context, res *results, ref media.Ref, why string) {
	w := fmt.Sprintf("%s is not shown: %s", ref, clip(media.Scrub(why), 300))
	r.warn(ctx, w)
	res.Warnings = append(res.Warnings, w)
}

// shows tells whether a message shows a picture already.
func (r *results) shows(ref media.Ref) bool {
	return slices.ContainsFunc(r.views, func(s sight) bool { return s.ref == ref })
}
