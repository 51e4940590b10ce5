package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"atelier/chat"
	"atelier/generate"
	"atelier/journal/step"
	"atelier/media"
)

// inquiry makes the question of an agent. The error says what is wrong with it.
func inquiry(question string, schema json.RawMessage) (Question, error) {
	text, err := asked(question)
	if err != nil {
		return Question{}, err
	}
	f, err := form(schema)
	if err != nil {
		return Question{}, err
	}
	return Question{Kind: QuestionAsk, Question: text, Schema: f}, nil
}

// inquiry is the question of a step; there is none where a is nil.
func (a *Ask) inquiry() (Question, error) {
	switch {
	case a == nil:
		return Question{}, nil
	case len(a.Schema) == 0:
		return inquiry(a.Question, nil)
	}
	return inquiry(a.Question, plain(a.Schema))
}

// answerView is what a person answered, as the model sees it.
type answerView struct {
	Question string `json:"question"`
	Value    any    `json:"value"`
	Note     string `json:"note,omitempty"`
	// Media are the items that came with the answer.
	Media []itemView `json:"media,omitempty"`
}

// consult waits for the answer to the question of a step and puts it before the model
// with the results of the step.
func (r *run) consult(ctx context.Context, q Question, res *results) error {
	p, err := r.await(ctx, step.In(r.turns, step.KindQuestion), callIndex{turn: r.turns}, q)
	if err != nil {
		return err
	}
	view := &answerView{Question: q.Question, Note: p.Note}
	if err := json.Unmarshal(p.Value, &view.Value); err != nil {
		return media.Errorf(media.CodeCorrupt, "read the answer to %q: %w", clip(q.Question, 80), err)
	}
	for _, o := range r.take(ctx, p) {
		view.Media = append(view.Media, viewItem(o))
	}
	res.Answer = view
	return r.regard(ctx, p, res)
}

// take brings the media of an answer into the run and gives it.
func (r *run) take(ctx context.Context, p replied) []media.Output {
	r.grant(ctx, p.Granted)
	r.mu.Lock()
	if p.Replace {
		r.images = nil
	}
	r.images = append(slices.Clip(r.images), p.Images...)
	r.told = append(r.told, p)
	r.mu.Unlock()
	var taken []media.Output
	for _, g := range p.Granted {
		if o, ok := r.set.Lookup(g.Ref); ok {
			r.emit(ctx, EventMediaStored, MediaEvent{Output: o})
			taken = append(taken, o)
		}
	}
	return taken
}

// regard shows the model the pictures of an answer, as far as there is room beside those
// that it has from people already. It fails where one went away since and the run shall
// stop for that.
func (r *run) regard(ctx context.Context, p replied, res *results) error {
	if p.Replace {
		r.history.replaceGiven()
	}
	room := 0
	profile := r.model.Profile()
	if profile.SupportsVision {
		room = cmp.Or(profile.MaxImages, maxImages) - r.history.given()
	}
	for n, i := range p.Images {
		o, ok := r.set.Lookup(i.Ref)
		if !ok {
			continue // it could not be granted, which was told
		}
		err := error(media.Errorf(media.CodeTooLarge, "%s has no room for more pictures", profile))
		var s sight
		if n < room {
			s, err = r.fit(ctx, step.Shown(r.turns, step.KindAnswer, string(o.Ref)), o, chat.Room{Images: r.history.given() + len(p.Images)})
		}
		if code := media.CodeOf(err); r.lostImages == LostStop && (code == media.CodeNotFound || code == media.CodeCorrupt) {
			return media.Errorf(code, "%s can no longer be shown to agent %s: %w", i.Ref, r.spec.slug, err)
		}
		if err != nil {
			r.hide(ctx, res, i.Ref, err.Error())
			r.dispose(generate.Disposition{
				Setting: "image", Asked: string(i.Ref), Outcome: generate.OutcomeDropped, Reason: clip(media.ErrorText(err.Error()), 300),
			})
			continue
		}
		s.detail, s.turns, s.given = r.detail(i), maxTurns, true
		res.views = append(res.views, s)
	}
	return nil
}

// detail is how closely the model is to look at a picture, where it can be told.
func (r *run) detail(i InputImage) string {
	p := r.model.Profile()
	if i.Detail == "" || i.Detail == "auto" || p.Detail {
		return i.Detail
	}
	r.dispose(noDetail(p, i))
	return ""
}

// given counts the pictures in sight that people gave.
func (h *history) given() int {
	n := 0
	for _, e := range h.entries {
		switch {
		case e.opening != nil:
			n += len(e.opening.images)
		case e.results != nil:
			for _, s := range e.results.views {
				if s.given {
					n++
				}
			}
		}
	}
	return n
}

// replaceGiven takes the pictures that people gave before out of sight.
func (h *history) replaceGiven() {
	gone := func(s sight) string { return string(s.ref) + " is not shown any more: the person gave other pictures." }
	for i := range h.entries {
		e := &h.entries[i]
		switch {
		case e.opening != nil && len(e.opening.images) > 0:
			for _, s := range e.opening.images {
				e.opening.unseen = append(e.opening.unseen, gone(s))
			}
			e.opening.images = nil
		case e.results != nil:
			e.results.views = slices.DeleteFunc(e.results.views, func(s sight) bool { return s.given })
		default:
			continue
		}
		e.render()
	}
}

// truncate keeps the beginning of an answer that is long, and the refs in it.
func (a *answerView) truncate(length int, set *media.Set) {
	text := string(plain(a.Value))
	if utf8.RuneCountInString(text) > length+spare {
		a.Value = cutText(text, length, set)
	}
	a.Question, a.Note = head(a.Question, toldLength), cutText(a.Note, length, set)
}

// noted is the note of an approval behind a word of refusal.
func noted(p replied, a approval) string {
	note := strings.TrimSpace(a.Note)
	if note == "" {
		note = strings.TrimSpace(p.Note)
	}
	if note == "" {
		return ""
	}
	return fmt.Sprintf(": %s", clip(note, 1000))
}
