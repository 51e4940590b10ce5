// Package vision decides which pictures the model of a run sees, and in which form: those of the task, those that the
// agent requests, and those that the policy shows. Smaller forms are made once, as durable steps.
//
// Errors are media.Error values: those of chat.Profile for pictures that a model does not accept,
// not_found for missing and corrupt for damaged bytes. It may import action, chat, generate,
// journal, media, agent/definition and agent/transcript.
package vision

import (
	"cmp"
	"context"
	"fmt"

	"atelier/action"
	"atelier/agent/definition"
	"atelier/agent/internal/plain"
	"atelier/agent/transcript"
	"atelier/chat"
	"atelier/generate"
	"atelier/journal"
	"atelier/journal/step"
	"atelier/media"
)

// The limits of pictures that a model requests in one turn, unless its profile has smaller ones.
const (
	maxViews     = 4
	maxViewBytes = 8 << 20
)

// MaxGiven is the maximum number of pictures in one message, regardless of the model.
const MaxGiven = 500

// Fitted is a picture in the form that a model accepts.
type Fitted = step.Fitted[generate.Disposition]

// InputImage is a stored picture of a message, in the form used in saved state.
type InputImage = media.InputImage

// Config configures how pictures are shown. It does not change during a run.
type Config struct {
	// Agent is the slug and System the prompt of the agent; System is for estimating tokens.
	Agent, System string
	Journal       *journal.Transcript
	Set           *media.Set
	Actions       *action.Registry
	Blobs         media.Storage
	// Recorder records smaller forms of pictures; nil disables recording.
	Recorder media.Recorder
	// ModelsWithVision returns the names of models that accept the given number of pictures.
	ModelsWithVision func(images int) []string
	// Warn warns a person, RecordDisposition records the disposition of a picture, Show records a picture shown by the policy.
	Warn              func(ctx context.Context, warnings ...string)
	RecordDisposition func(generate.Disposition)
	Show              func(InputImage)

	// Lenient leaves out pictures that the model does not accept. Lost determines what happens when
	// their bytes are missing. Policy applies to pictures made by actions.
	Lenient bool
	Lost    LostImages
	Policy  definition.VisionContextPolicy
}

// Sights decides which of its pictures the model of a run is shown. It is not safe for concurrent use.
type Sights struct {
	Config
	// Model is the run's model; nil before it is chosen.
	Model chat.Model
	// Given are the pictures that came with the task or were granted to be seen. Fitted are forms
	// of them that were made before the run began.
	Given  []InputImage
	Fitted []FittedImage
	// Unseen are sentences for the model about pictures that it cannot see.
	Unseen []string
}

func (v *Sights) profile() chat.Profile { return v.Model.Profile() }

// Fit returns a picture of the run in the form that its model accepts, and records what had to
// change. A conversion is a durable step with the given name.
func (v *Sights) Fit(ctx context.Context, name step.Name, o media.Output, room chat.Room) (transcript.Sight, error) {
	if v.profile().Fits(o, room) {
		f, err := v.convert(ctx, o, room)
		return v.sight(ctx, f), err
	}
	f, err := journal.Do(ctx, v.Journal, name, func(ctx context.Context) (Fitted, error) {
		f, err := v.convert(ctx, o, room)
		if err != nil && ctx.Err() == nil {
			return Fitted{Ref: o.Ref, Failure: step.FailureOf(err)}, nil
		}
		return f, err
	})
	if err != nil {
		return transcript.Sight{}, err
	}
	if f.Failure != nil {
		return transcript.Sight{}, f.Failure.Err()
	}
	return v.sight(ctx, f), nil
}

// sight records what had to change in a picture.
func (v *Sights) sight(ctx context.Context, f Fitted) transcript.Sight {
	v.Warn(ctx, f.Warning)
	if f.Adapted != nil {
		v.RecordDisposition(*f.Adapted)
	}
	return transcript.Sight{Ref: f.Ref, Shown: f.Shown, Detail: f.Detail}
}

// convert converts a picture to the form that the model accepts, and records it.
func (v *Sights) convert(ctx context.Context, o media.Output, room chat.Room) (Fitted, error) {
	f, err := v.formOf(ctx, o, room)
	if err != nil {
		return Fitted{}, err
	}
	out := Fitted{Ref: o.Ref, Shown: f.Output}
	if f.Reason == "" {
		return out, nil
	}
	if v.Recorder != nil {
		recorded, err := v.Recorder.Record(context.WithoutCancel(ctx), f.Output)
		if err != nil {
			out.Warning = fmt.Sprintf("the smaller form of %s was not recorded: %s", o.Ref, err)
		} else {
			out.Shown = recorded
		}
	}
	picture := func(o media.Output) string {
		return fmt.Sprintf("%s: %s, %d × %d, %d bytes", o.Ref, o.MIMEType, o.Width, o.Height, o.SizeBytes)
	}
	out.Adapted = &generate.Disposition{
		Setting: "image", Asked: picture(o), Applied: picture(out.Shown), Outcome: generate.OutcomeAdapted, Reason: f.Reason,
	}
	return out, nil
}

// CanSee returns nil if the run's model can be shown the pixels of an item.
func (v *Sights) CanSee(o media.Output) error {
	if v.Model == nil {
		return media.Errorf(media.CodeUnsupported, "this agent has no chat model that can see pictures")
	}
	p := v.profile()
	if !p.SupportsVision {
		return media.Errorf(media.CodeUnsupported, "%s cannot see pictures: go by label, description and details", p.Name)
	}
	return p.CheckVision(o)
}

// ShowRequested adds the pictures that acts of a step request to be shown, within the budget.
func (v *Sights) ShowRequested(ctx context.Context, turn int, res *transcript.Results, changes []media.Change) {
	most := maxViews
	if v.Model != nil {
		most = min(most, cmp.Or(v.profile().MaxImages, maxViews))
	}
	for _, c := range changes {
		o, ok := v.Set.Lookup(c.Ref)
		if c.Kind != media.ChangeView || !ok || res.Shows(c.Ref) {
			continue
		}
		if len(res.Views) == most || transcript.BytesOf(res.Views) >= maxViewBytes {
			v.ReportNotShown(ctx, res, o.Ref, fmt.Sprintf("a turn has room for %d pictures and %d bytes", most, maxViewBytes))
			continue
		}
		s, err := v.Fit(ctx, step.Shown(turn, step.KindView, string(o.Ref)), o, chat.Room{Images: most, MaxBytes: maxViewBytes - transcript.BytesOf(res.Views)})
		if err != nil {
			v.ReportNotShown(ctx, res, o.Ref, err.Error())
			continue
		}
		s.Turns = transcript.ViewTurns
		res.Views = append(res.Views, s)
	}
}

// ShowAnswer shows the pictures of a person's answer, as far as the model accepts more pictures
// than those in the history. It leaves out pictures that the model does not accept, with a warning.
// A picture whose bytes are missing is an error if Lost is LostStop.
func (v *Sights) ShowAnswer(ctx context.Context, turn int, images []InputImage, h *transcript.History, res *transcript.Results) error {
	p, room := v.profile(), 0
	if p.SupportsVision {
		room = cmp.Or(p.MaxImages, MaxGiven) - h.Given()
	}
	for n, i := range images {
		o, ok := v.Set.Lookup(i.Ref)
		if !ok {
			continue // it could not be granted, which already caused a warning
		}
		err := error(media.Errorf(media.CodeTooLarge, "%s has no room for more pictures", p))
		var s transcript.Sight
		if n < room {
			s, err = v.Fit(ctx, step.Shown(turn, step.KindAnswer, string(o.Ref)), o, chat.Room{Images: h.Given() + len(images)})
		}
		if code := media.CodeOf(err); v.Lost == LostStop && (code == media.CodeNotFound || code == media.CodeCorrupt) {
			return media.Errorf(code, "%s can no longer be shown to agent %s: %w", i.Ref, v.Agent, err)
		}
		if err != nil {
			v.ReportNotShown(ctx, res, i.Ref, err.Error())
			v.RecordDisposition(generate.Disposition{
				Setting: "image", Asked: string(i.Ref), Outcome: generate.OutcomeDropped, Reason: plain.Clip(media.ErrorText(err.Error()), 300),
			})
			continue
		}
		s.Detail, s.Turns, s.Given = i.Detail, definition.MaxTurns, true
		if i.Detail != "" && i.Detail != "auto" && !p.Detail {
			s.Detail = ""
			v.RecordDisposition(noDetail(p, i))
		}
		res.Views = append(res.Views, s)
	}
	return nil
}

// ReportNotShown warns the person and the model that a requested picture is not shown.
func (v *Sights) ReportNotShown(ctx context.Context, res *transcript.Results, ref media.Ref, reason string) {
	w := fmt.Sprintf("%s is not shown: %s", ref, plain.Clip(media.ErrorText(reason), 300))
	v.Warn(ctx, w)
	res.Warnings = append(res.Warnings, w)
}
