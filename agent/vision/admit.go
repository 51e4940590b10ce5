package vision

import (
	"context"
	"fmt"

	"atelier/agent/internal/plain"
	"atelier/agent/transcript"
	"atelier/chat"
	"atelier/generate"
	"atelier/journal"
	"atelier/journal/step"
	"atelier/media"
)

// Admission is the outcome for the pictures of a task.
type Admission = step.Admission[generate.Disposition]

// omit records a picture that is not shown.
func omit(a *Admission, ref media.Ref, reason string) {
	a.Omitted = append(a.Omitted, step.Omitted{Ref: ref, Reason: plain.Clip(media.ErrorText(reason), 300)})
}

// Admit returns the pictures of the task in the form that the model accepts. A picture that it does
// not accept is an error, or is left out with a warning if the run is lenient. Admit is one durable
// step: a process that continues the run does not convert or record anything again.
func (v *Sights) Admit(ctx context.Context) ([]transcript.Sight, error) {
	if len(v.Given) == 0 {
		return nil, nil
	}
	a, err := journal.Do(ctx, v.Journal, step.Name{Kind: step.KindImages}, v.admission)
	if err != nil {
		return nil, err
	}
	for _, l := range a.Omitted {
		v.Warn(ctx, fmt.Sprintf("%s is not shown to agent %s: %s", l.Ref, v.Agent, l.Reason))
		v.RecordDisposition(generate.Disposition{Setting: "image", Asked: string(l.Ref), Outcome: generate.OutcomeDropped, Reason: l.Reason})
		v.Unseen = append(v.Unseen, fmt.Sprintf("You cannot see %s: %s.", l.Ref, l.Reason))
	}
	for _, d := range a.Settings {
		v.RecordDisposition(d)
	}
	var list []transcript.Sight
	for _, f := range a.Shown {
		list = append(list, v.sight(ctx, f))
	}
	return list, nil
}

// admission decides which pictures of the task are shown.
func (v *Sights) admission(ctx context.Context) (Admission, error) {
	var a Admission
	p, images := v.profile(), v.Given
	if err := p.CheckImageCount(len(images), v.ModelsWithVision(len(images))); err != nil {
		if !v.Lenient {
			return a, fmt.Errorf("agent %s: %w", v.Agent, err)
		}
		most, reason := 0, fmt.Sprintf("%s takes no pictures", p)
		if p.SupportsVision {
			most, reason = p.MaxImages, fmt.Sprintf("%s takes %d pictures in one request", p, p.MaxImages)
		}
		for _, i := range images[most:] {
			omit(&a, i.Ref, reason)
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
		// If their total exceeds the limit of a request, all of them are made smaller.
		share := most / int64(len(a.Shown))
		a = first
		return a, v.fitAll(ctx, &a, images, share)
	}
	return a, nil
}

// fitAll fits pictures, each within most bytes; 0 uses the limit of the profile.
func (v *Sights) fitAll(ctx context.Context, a *Admission, images []InputImage, most int64) error {
	for _, i := range images {
		o, ok := v.Set.Lookup(i.Ref)
		if !ok {
			continue // it could not be granted, which already caused a warning
		}
		f, err := v.convert(ctx, o, chat.Room{Images: len(images), MaxBytes: most})
		if err != nil {
			if ctx.Err() != nil || !v.Lenient {
				return fmt.Errorf("show %s to agent %s: %w", o.Ref, v.Agent, err)
			}
			omit(a, i.Ref, err.Error())
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

// noDetail returns the disposition of a detail setting that the model does not support.
func noDetail(p chat.Profile, i InputImage) generate.Disposition {
	return generate.Disposition{
		Setting: "image_detail", Asked: i.Detail, Outcome: generate.OutcomeDropped, Reason: p.Name + " cannot be told how closely to look",
	}
}

// FittedImage is a smaller form of a picture that was made for a model before the run began. Its
// bytes are stored, but it has no media record.
type FittedImage struct {
	// Ref is the ref of the picture; Room is the room for which the form was made.
	Ref  media.Ref `json:"ref"`
	Room chat.Room `json:"room"`
	// Output is the form; Reason is why the picture had to change.
	Output media.Output `json:"output"`
	Reason string       `json:"reason"`
}

// Prefit makes the forms that the model accepts, as the run will request them: each of the distinct pictures by itself,
// and smaller ones if their total is too large for a request. The error names the picture that cannot be shown.
func (v *Sights) Prefit(ctx context.Context, p chat.Profile, pictures []media.Output) error {
	room := chat.Room{Images: len(pictures)}
	total, err := v.fitWithin(ctx, p, pictures, room)
	if most := p.MaxTotalImageBytes; err == nil && most > 0 && total > most {
		room.MaxBytes = most / int64(len(pictures))
		_, err = v.fitWithin(ctx, p, pictures, room)
	}
	return err
}

// fitWithin makes the forms for a room and returns their total size in bytes.
func (v *Sights) fitWithin(ctx context.Context, p chat.Profile, pictures []media.Output, room chat.Room) (total int64, err error) {
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

// formOf returns the form of a picture: the one made before the run began, or a new one.
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
