package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"atelier/chat"
	"atelier/generate"
	"atelier/journal/step"
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

// fitted is a picture in the form that a model takes, as the journal remembers it.
type fitted struct {
	Ref     media.Ref             `json:"ref"`
	Shown   media.Output          `json:"shown"`
	Detail  string                `json:"detail,omitempty"`
	Adapted *generate.Disposition `json:"adapted,omitempty"`
	Warning string                `json:"warning,omitempty"`
	// Failure is why it cannot be shown: the run goes on without it.
	Failure *failure `json:"failure,omitempty"`
}

// fit gives a picture of the run in the form that its model takes, and notes what had
// to change. A conversion is a durable step of that name.
func (r *run) fit(ctx context.Context, name step.Name, o media.Output, room chat.Room) (sight, error) {
	if r.model.Profile().Fits(o, room) {
		f, err := r.convert(ctx, o, room)
		return r.sight(ctx, f), err
	}
	b, err := r.journal.Step(ctx, name.String(), func(ctx context.Context) ([]byte, error) {
		f, err := r.convert(ctx, o, room)
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return nil, err
		default:
			f = fitted{Ref: o.Ref, Failure: failureOf(err)}
		}
		return json.Marshal(f)
	})
	if err != nil {
		return sight{}, err
	}
	var f fitted
	if err := json.Unmarshal(b, &f); err != nil {
		return sight{}, media.Errorf(media.CodeInternal, "read journalled picture: %w", err)
	}
	if f.Failure != nil {
		return sight{}, f.Failure.err()
	}
	return r.sight(ctx, f), nil
}

// sight notes what had to change in a picture.
func (r *run) sight(ctx context.Context, f fitted) sight {
	r.warn(ctx, f.Warning)
	if f.Adapted != nil {
		r.dispose(*f.Adapted)
	}
	return sight{ref: f.Ref, shown: f.Shown, detail: f.Detail}
}

// convert brings a picture into the form that the model takes, and records it.
func (r *run) convert(ctx context.Context, o media.Output, room chat.Room) (fitted, error) {
	f, err := r.formOf(ctx, o, room)
	if err != nil {
		return fitted{}, err
	}
	out := fitted{Ref: o.Ref, Shown: f.Output}
	if f.Reason == "" {
		return out, nil
	}
	if r.r.cfg.Recorder != nil {
		recorded, err := r.r.cfg.Recorder.Record(context.WithoutCancel(ctx), f.Output)
		if err != nil {
			out.Warning = fmt.Sprintf("the smaller form of %s was not recorded: %s", o.Ref, err)
		} else {
			out.Shown = recorded
		}
	}
	out.Adapted = &generate.Disposition{
		Setting: "image", Asked: describePicture(o), Applied: describePicture(out.Shown), Outcome: generate.OutcomeAdapted, Reason: f.Reason,
	}
	return out, nil
}

// describePicture is a picture in a disposition.
func describePicture(o media.Output) string {
	return fmt.Sprintf("%s: %s, %d × %d, %d bytes", o.Ref, o.MIMEType, o.Width, o.Height, o.SizeBytes)
}

// dispose notes what became of something that was asked for, once.
func (r *run) dispose(d generate.Disposition) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.dispositions, d) {
		r.dispositions = append(r.dispositions, d)
	}
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
		s, err := r.fit(ctx, step.Shown(r.turns, step.KindView, string(o.Ref)), o, chat.Room{Images: most, MaxBytes: maxViewBytes - bytesOf(res.views)})
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
	w := fmt.Sprintf("%s is not shown: %s", ref, clip(media.ErrorText(why), 300))
	r.warn(ctx, w)
	res.Warnings = append(res.Warnings, w)
}

func bytesOf(list []sight) (n int64) {
	for _, s := range list {
		n += s.shown.SizeBytes
	}
	return n
}

// shows reports whether a message shows a picture already.
func (r *results) shows(ref media.Ref) bool {
	return slices.ContainsFunc(r.views, func(s sight) bool { return s.ref == ref })
}
