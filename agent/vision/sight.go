// Package vision decides which pictures the model of a run sees, and how: those of the task, those that
// the agent asks to look at, and those that the policy shows; each in the form that the model takes. Smaller
// forms are made once, as durable steps.
//
// Errors are media.Error values: those of chat.Profile for pictures that a model does not take, not_found
// and corrupt for bytes that went away. It may import action, chat, generate, journal, media,
// agent/definition and agent/transcript.
package vision

import (
	"cmp"
	"context"
	"fmt"

	"atelier/action"
	"atelier/agent/definition"
	"atelier/agent/internal/memo"
	"atelier/agent/internal/plain"
	"atelier/agent/transcript"
	"atelier/chat"
	"atelier/generate"
	"atelier/journal"
	"atelier/journal/step"
	"atelier/media"
)

// The budget of pictures that a model asks to look at in one turn, where its profile
// names none that is smaller.
const (
	maxViews     = 4
	maxViewBytes = 8 << 20
)

// MaxGiven is how many pictures may come with one message, whatever the model takes.
const MaxGiven = 500

// Fitted is a picture in the form that a model takes, as the journal remembers it.
type Fitted struct {
	Ref     media.Ref             `json:"ref"`
	Shown   media.Output          `json:"shown"`
	Detail  string                `json:"detail,omitempty"`
	Adapted *generate.Disposition `json:"adapted,omitempty"`
	Warning string                `json:"warning,omitempty"`
	// Failure is why it cannot be shown: the run continues without it.
	Failure *memo.Failure `json:"failure,omitempty"`
}

// InputImage is a stored picture of a message: what saved state holds of it.
type InputImage struct {
	Ref      media.Ref `json:"ref"`
	MIMEType string    `json:"mime_type"`
	FileName string    `json:"filename,omitempty"`
	Detail   string    `json:"detail,omitempty"`
}

// Config is what pictures are shown by. It does not change in a run.
type Config struct {
	// Agent is its slug, System its prompt, for the estimate of tokens.
	Agent, System string
	Journal       *journal.Transcript
	Set           *media.Set
	Actions       *action.Registry
	Blobs         chat.Blobs
	// Recorder records smaller forms of pictures; nil records nothing.
	Recorder media.Recorder
	// Seeing names models that take that many pictures.
	Seeing func(images int) []string
	// Warn warns a person, Dispose notes what became of a picture, Show one that the policy shows.
	Warn    func(ctx context.Context, warnings ...string)
	Dispose func(generate.Disposition)
	Show    func(InputImage)

	// Lenient leaves pictures out that the model does not take, Lost says what to do when
	// their bytes go away, Policy is for pictures that actions make.
	Lenient bool
	Lost    LostImages
	Policy  definition.VisionContextPolicy
}

// EachMedia calls each with the item, which it may change.
func (f *Fitted) EachMedia(each func(*media.Output)) { each(&f.Shown) }

// Sights decides what the model of a run is shown of its pictures. It is not safe for concurrent use.
type Sights struct {
	Config
	// Model is the model of the run; nil before it is chosen.
	Model chat.Model
	// Given are the pictures that came with the task, or were granted to be seen; Fitted are forms of
	// them that were made before the run began.
	Given  []InputImage
	Fitted []FittedImage
	// Unseen are sentences for the model about pictures that it cannot see.
	Unseen []string
}

func (v *Sights) profile() chat.Profile { return v.Model.Profile() }

// Fit gives a picture of the run in the form that its model takes, and notes what had
// to change. A conversion is a durable step of that name.
func (v *Sights) Fit(ctx context.Context, name step.Name, o media.Output, room chat.Room) (transcript.Sight, error) {
	if v.profile().Fits(o, room) {
		f, err := v.convert(ctx, o, room)
		return v.sight(ctx, f), err
	}
	f, err := memo.Do(ctx, v.Journal, name, func(ctx context.Context) (Fitted, error) {
		f, err := v.convert(ctx, o, room)
		if err != nil && ctx.Err() == nil {
			return Fitted{Ref: o.Ref, Failure: memo.FailureOf(err)}, nil
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

// sight notes what had to change in a picture.
func (v *Sights) sight(ctx context.Context, f Fitted) transcript.Sight {
	v.Warn(ctx, f.Warning)
	if f.Adapted != nil {
		v.Dispose(*f.Adapted)
	}
	return transcript.Sight{Ref: f.Ref, Shown: f.Shown, Detail: f.Detail}
}

// convert brings a picture into the form that the model takes, and records it.
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

// CanSee is nil if the run's model can be shown the pixels of an item.
func (v *Sights) CanSee(o media.Output) error {
	if v.Model == nil {
		return media.Errorf(media.CodeUnsupported, "this agent has no chat model that can see pictures")
	}
	p := v.profile()
	if !p.SupportsVision {
		return media.Errorf(media.CodeUnsupported, "%s cannot see pictures: go by label, description and details", p.Name)
	}
	return p.Sees(o)
}

// Look gathers the pictures that acts of a step want to be seen, within the budget.
func (v *Sights) Look(ctx context.Context, turn int, res *transcript.Results, changes []media.Change) {
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
			v.Hide(ctx, res, o.Ref, fmt.Sprintf("a turn has room for %d pictures and %d bytes", most, maxViewBytes))
			continue
		}
		s, err := v.Fit(ctx, step.Shown(turn, step.KindView, string(o.Ref)), o, chat.Room{Images: most, MaxBytes: maxViewBytes - transcript.BytesOf(res.Views)})
		if err != nil {
			v.Hide(ctx, res, o.Ref, err.Error())
			continue
		}
		s.Turns = transcript.ViewTurns
		res.Views = append(res.Views, s)
	}
}

// ShowAnswer shows the pictures of a person's answer, as far as the model takes more of them beside
// those of the history. Those that it does not take are left out with a warning; one whose bytes are
// missing is an error where Lost says so.
func (v *Sights) ShowAnswer(ctx context.Context, turn int, images []InputImage, h *transcript.History, res *transcript.Results) error {
	p, room := v.profile(), 0
	if p.SupportsVision {
		room = cmp.Or(p.MaxImages, MaxGiven) - h.Given()
	}
	for n, i := range images {
		o, ok := v.Set.Lookup(i.Ref)
		if !ok {
			continue // it could not be granted, which is a warning already
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
			v.Hide(ctx, res, i.Ref, err.Error())
			v.Dispose(generate.Disposition{
				Setting: "image", Asked: string(i.Ref), Outcome: generate.OutcomeDropped, Reason: plain.Clip(media.ErrorText(err.Error()), 300),
			})
			continue
		}
		s.Detail, s.Turns, s.Given = i.Detail, definition.MaxTurns, true
		if i.Detail != "" && i.Detail != "auto" && !p.Detail {
			s.Detail = ""
			v.Dispose(noDetail(p, i))
		}
		res.Views = append(res.Views, s)
	}
	return nil
}

// Hide warns person and model that a picture which was asked for is not shown.
func (v *Sights) Hide(ctx context.Context, res *transcript.Results, ref media.Ref, reason string) {
	w := fmt.Sprintf("%s is not shown: %s", ref, plain.Clip(media.ErrorText(reason), 300))
	v.Warn(ctx, w)
	res.Warnings = append(res.Warnings, w)
}
