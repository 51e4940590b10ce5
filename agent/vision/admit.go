package vision

import (
	"context"
	"encoding/json"
	"fmt"

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
func (a *Admission) leave(ref media.Ref, why string) {
	a.Omitted = append(a.Omitted, omitted{Ref: ref, Why: plain.Clip(media.ErrorText(why), 300)})
}

// Admit gives the pictures of the task as the model takes them. What it does not
// take is an error, or is left out with a warning where the run is lenient. It is one
// durable step: the process that continues the run converts and records nothing again.
func (v *Sights) Admit(ctx context.Context) ([]transcript.Sight, error) {
	if len(v.Given) == 0 {
		return nil, nil
	}
	b, err := v.Journal.Step(ctx, step.Name{Kind: step.KindImages}, func(ctx context.Context) ([]byte, error) {
		a, err := v.admission(ctx)
		if err != nil {
			return nil, err
		}
		return json.Marshal(a)
	})
	if err != nil {
		return nil, err
	}
	var a Admission
	if err := json.Unmarshal(b, &a); err != nil {
		return nil, media.Errorf(media.CodeInternal, "read journalled pictures: %w", err)
	}
	for _, l := range a.Omitted {
		v.leaveOut(ctx, l.Ref, l.Why)
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
	if err := v.fitAll(ctx, &a, images, 0); err != nil {
		return a, err
	}
	if most := p.MaxTotalImageBytes; most > 0 && a.bytes() > most {
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

func (a *Admission) bytes() (n int64) {
	for _, f := range a.Shown {
		n += f.Shown.SizeBytes
	}
	return n
}

// leaveOut puts into result, ledger and prompt that a picture is not shown.
func (v *Sights) leaveOut(ctx context.Context, ref media.Ref, why string) {
	v.Warn(ctx, fmt.Sprintf("%s is not shown to agent %s: %s", ref, v.Agent, why))
	v.Dispose(generate.Disposition{Setting: "image", Asked: string(ref), Outcome: generate.OutcomeDropped, Reason: why})
	v.Unseen = append(v.Unseen, fmt.Sprintf("You cannot see %s: %s.", ref, why))
}
