package vision

import (
	"context"
	"fmt"
	"slices"

	"atelier/agent/internal/memo"
	"atelier/agent/internal/plain"
	"atelier/agent/transcript"
	"atelier/chat"
	"atelier/generate"
	"atelier/journal/step"
	"atelier/media"
)

// Admission is what became of the pictures of a task, as the journal remembers it.
type Admission struct {
	Shown   []Fitted  `json:"shown,omitempty"`
	Omitted []omitted `json:"left,omitempty"`
	// Settings of the pictures that the model does not have.
	Settings []generate.Disposition `json:"settings,omitempty"`
}

// EachMedia calls each with every item, which it may change.
func (a *Admission) EachMedia(each func(*media.Output)) {
	for i := range a.Shown {
		each(&a.Shown[i].Shown)
	}
}

// omitted is a picture that is not shown, and why.
type omitted struct {
	Ref media.Ref `json:"ref"`
	Why string    `json:"why"`
}

// leave notes a picture that is not shown.
func (a *Admission) leave(ref media.Ref, reason string) {
	a.Omitted = append(a.Omitted, omitted{Ref: ref, Why: plain.Clip(media.ErrorText(reason), 300)})
}

// Admit gives the pictures of the task as the model takes them. What it does not
// take is an error, or is left out with a warning where the run is lenient. It is one
// durable step: the process that continues the run converts and records nothing again.
func (v *Sights) Admit(ctx context.Context) ([]transcript.Sight, error) {
	if len(v.Given) == 0 {
		return nil, nil
	}
	a, err := memo.Do(ctx, v.Journal, step.Name{Kind: step.KindImages}, v.admission)
	if err != nil {
		return nil, err
	}
	for _, l := range a.Omitted {
		v.Warn(ctx, fmt.Sprintf("%s is not shown to agent %s: %s", l.Ref, v.Agent, l.Why))
		v.Dispose(generate.Disposition{Setting: "image", Asked: string(l.Ref), Outcome: generate.OutcomeDropped, Reason: l.Why})
		v.Unseen = append(v.Unseen, fmt.Sprintf("You cannot see %s: %s.", l.Ref, l.Why))
	}
	for _, d := range a.Settings {
		v.Dispose(d)
	}
	var list []transcript.Sight
	for _, f := range a.Shown {
		list = append(list, v.sight(ctx, f))
	}
	return list, nil
}

// admission decides about the pictures of the task.
func (v *Sights) admission(ctx context.Context) (Admission, error) {
	var a Admission
	p, images := v.profile(), v.Given
	if err := p.Gate(len(images), v.Seeing(len(images))); err != nil {
		if !v.Lenient {
			return a, fmt.Errorf("agent %s: %w", v.Agent, err)
		}
		most, reason := 0, fmt.Sprintf("%s takes no pictures", p)
		if p.SupportsVision {
			most, reason = p.MaxImages, fmt.Sprintf("%s takes %d pictures in one request", p, p.MaxImages)
		}
		for _, i := range images[most:] {
			a.leave(i.Ref, reason)
		}
		images = images[:most]
	}
	first := a
	if err := v.fitAll(ctx, &a, images, 0); err != nil {
		return a, err
	}
	var total int64
	for _, f := range a.Shown {
		total += f.Shown.SizeBytes
	}
	if most := p.MaxTotalImageBytes; most > 0 && total > most {
		// All are made smaller where together they are over the limit of a request.
		share := most / int64(len(a.Shown))
		a = first
		return a, v.fitAll(ctx, &a, images, share)
	}
	return a, nil
}

// fitAll fits pictures, each within most bytes; 0 leaves that to the profile.
func (v *Sights) fitAll(ctx context.Context, a *Admission, images []InputImage, most int64) error {
	for _, i := range images {
		o, ok := v.Set.Lookup(i.Ref)
		if !ok {
			continue // it could not be granted, which is a warning already
		}
		f, err := v.convert(ctx, o, chat.Room{Images: len(images), MaxBytes: most})
		if err != nil {
			if ctx.Err() != nil || !v.Lenient {
				return fmt.Errorf("show %s to agent %s: %w", o.Ref, v.Agent, err)
			}
			a.leave(i.Ref, err.Error())
			continue
		}
		f.Detail = i.Detail
		if p := v.profile(); i.Detail != "" && i.Detail != "auto" && !p.Detail {
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

// FittedImage is a smaller form of a picture that was made for a model before the run began.
// Its bytes are stored; it is not on record.
type FittedImage struct {
	// Ref is the picture's, Room what the form was made for.
	Ref  media.Ref `json:"ref"`
	Room chat.Room `json:"room"`
	// Output is the form, Reason why the picture had to change.
	Output media.Output `json:"output"`
	Reason string       `json:"reason"`
}

// TryOn makes the forms in which the model takes pictures, as the run will ask for them: each
// by itself, and smaller where together they are too large for a request. The error is that
// of the picture that cannot be shown.
func (v *Sights) TryOn(ctx context.Context, p chat.Profile, pictures []media.Output) error {
	once := slices.CompactFunc(slices.Clone(pictures), func(a, b media.Output) bool { return a.Ref == b.Ref })
	room := chat.Room{Images: len(once)}
	total, err := v.tryIn(ctx, p, once, room)
	if most := p.MaxTotalImageBytes; err == nil && most > 0 && total > most {
		room.MaxBytes = most / int64(len(once))
		_, err = v.tryIn(ctx, p, once, room)
	}
	return err
}

// tryIn makes the forms for a room, and gives their bytes together.
func (v *Sights) tryIn(ctx context.Context, p chat.Profile, pictures []media.Output, room chat.Room) (total int64, err error) {
	for i, o := range pictures {
		if p.Fits(o, room) {
			total += o.SizeBytes
			continue
		}
		f, err := p.Fit(ctx, v.Blobs, o, room)
		if err != nil {
			return total, fmt.Errorf("image %d: show it to agent %s: %w", i+1, v.Agent, err)
		}
		v.Fitted = append(v.Fitted, FittedImage{Ref: o.Ref, Room: room, Output: f.Output, Reason: f.Reason})
		total += f.Output.SizeBytes
	}
	return total, nil
}

// formOf gives the form of a picture: the one that was made before the run began, or a new one.
func (v *Sights) formOf(ctx context.Context, o media.Output, room chat.Room) (chat.Fitted, error) {
	p := v.profile()
	for _, f := range v.Fitted {
		if f.Ref != o.Ref || f.Room != room || !p.Fits(f.Output, room) {
			continue
		}
		if code := v.readable(ctx, f.Output.Digest); code == "" {
			f.Output.Origin = o.Origin
			return chat.Fitted{Output: f.Output, Reason: f.Reason}, nil
		}
	}
	return p.Fit(ctx, v.Blobs, o, room)
}
