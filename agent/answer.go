package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"atelier/action"
	"atelier/journal/step"
	"atelier/media"
)

// replied checks a reply and gives it as it is remembered, without its pictures.
func (r *Runner) replied(ctx context.Context, s State, q Question, a Reply) (replied, error) {
	out := replied{Replace: a.ReplaceImages}
	if (len(a.Images) > 0 || a.ReplaceImages) && q.Kind != QuestionAsk {
		return out, media.Errorf(media.CodeInvalid, "question %s asks for an approval: it takes no images", q.ID)
	}
	if err := r.takesImages(ctx, s, q, a); err != nil {
		return out, err
	}
	req := s.Request
	ctx = media.WithScope(ctx, media.Scope{Owner: req.Owner, Tree: req.RunID, Run: q.RunID, AgentPath: q.AgentPath})
	value, found, err := r.cleanReply(ctx, a.Value)
	if err != nil {
		return out, err
	}
	if err := q.fits(value); err != nil {
		return out, err
	}
	note, more, err := r.cleanReply(ctx, plain(strings.TrimSpace(a.Note)))
	if err != nil {
		return out, err
	}
	if err := json.Unmarshal(note, &out.Note); err != nil {
		return out, media.Errorf(media.CodeInternal, "read note: %w", err)
	}
	if len([]rune(out.Note)) > maxQuestion {
		return out, media.Errorf(media.CodeInvalid, "the note has more than %d characters: put less into it", maxQuestion)
	}
	out.Value, out.Granted = value, append(found, more...)
	return out, nil
}

// picture stores the pictures of a reply and adds them to it.
func (r *Runner) picture(ctx context.Context, s State, a Reply, out *replied) error {
	if len(a.Images) == 0 {
		return nil
	}
	req := s.Request
	stored, err := r.StoreImages(ctx, Request{RunID: req.RunID, Owner: req.Owner, Granted: s.items(), Images: a.Images})
	if err != nil {
		return err
	}
	out.Images = inputImages(stored.Images)
	for _, o := range stored.Granted {
		if slices.ContainsFunc(out.Images, func(i InputImage) bool { return i.Ref == o.Ref }) {
			out.Granted = append(out.Granted, o)
		}
	}
	return nil
}

// cleanReply stores the media of a value and gives the value without it.
func (r *Runner) cleanReply(ctx context.Context, value json.RawMessage) (json.RawMessage, []media.Output, error) {
	text, found := r.interceptor.Text(ctx, action.Target{Source: "text"}, string(value))
	if len(found.Warnings) > 0 {
		return nil, nil, media.Errorf(media.CodeInvalid, "the media in the answer cannot be used: %s", strings.Join(found.Warnings, "; "))
	}
	return json.RawMessage(text), found.Media, nil
}

// items are all that is known of the run's media from its request and its steps.
func (s State) items() []media.Output {
	items := slices.Concat(s.Request.Granted, s.Request.Found)
	for _, name := range slices.Sorted(maps.Keys(s.Steps)) {
		var of struct {
			Media    []media.Output `json:"media"`
			Granted  []media.Output `json:"granted"`
			Response struct {
				Media []media.Output `json:"media"`
			} `json:"response"`
		}
		if json.Unmarshal(s.Steps[name], &of) != nil {
			continue // a step of another shape
		}
		for _, o := range slices.Concat(of.Media, of.Granted, of.Response.Media) {
			if o.Ref != "" && !slices.ContainsFunc(items, func(have media.Output) bool { return have.Ref == o.Ref }) {
				items = append(items, o)
			}
		}
	}
	return items
}

// takesImages puts the pictures of a reply through the gate of the model that asked,
// before anything is stored.
func (r *Runner) takesImages(ctx context.Context, s State, q Question, a Reply) error {
	if err := checkImages(a.Images); err != nil {
		return err
	}
	sp, err := r.spec(q.AgentPath[strings.LastIndexByte(q.AgentPath, '/')+1:])
	if err != nil || len(a.Images) == 0 || sp.def == nil || s.Request.LenientImages {
		return err
	}
	c, err := r.cfg.Models.Choose(ctx, append(slices.Clone(s.Request.ChatModels), sp.def.ChatModels...))
	if err != nil {
		return fmt.Errorf("choose chat model: %w", err)
	}
	n := len(a.Images)
	if !a.ReplaceImages {
		n += s.shown(q)
	}
	if err := c.Model.Profile().Gate(n, seeing(r.cfg.Models, n)); err != nil {
		return fmt.Errorf("the answer brings %d images, with those before there are %d: agent %s: %w", len(a.Images), n, sp.slug, err)
	}
	return nil
}

// shown counts the pictures that the agent of a question has by now from people.
func (s State) shown(q Question) int {
	n := 0
	if q.RunID == s.Request.RunID {
		n = len(s.Request.Images)
	}
	part := step.PlaceOf(q.Step)
	for turn := 1; turn <= maxTurns; turn++ {
		var p replied
		b, ok := s.Steps[part.Full(step.In(turn, step.KindQuestion).String())]
		if !ok || json.Unmarshal(b, &p) != nil {
			continue
		}
		if p.Replace {
			n = 0
		}
		n += len(p.Images)
	}
	return n
}

// seeing names models that take that many pictures, where the registry can tell.
func seeing(models ChatModels, images int) []string {
	if s, ok := models.(interface{ Seeing(images int) []string }); ok {
		return s.Seeing(images)
	}
	return nil
}
