package transcript

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"atelier/action"
	"atelier/agent/internal/object"
	"atelier/agent/internal/plain"
	"atelier/chat"
	"atelier/media"
)

// truncate cuts every message to a length, the opening too. Refs that were in what
// went stay named.
func (h *History) truncate(length int, set *media.Set) bool {
	changed := false
	for i := range h.entries {
		e := &h.entries[i]
		before := e.msg.Text()
		switch {
		case e.opening != nil:
			e.opening.truncate(length, set)
			e.render()
		case e.results != nil:
			e.results.truncate(length, set)
			e.render()
		default:
			e.msg = chat.Text(e.msg.Role, cutText(before, length, set))
		}
		changed = changed || e.msg.Text() != before
	}
	return changed
}

// truncate keeps the beginning of an answer that is long, and the refs in it.
func (a *Answer) truncate(length int, set *media.Set) {
	text := string(plain.JSON(a.Value))
	if utf8.RuneCountInString(text) > length+spare {
		a.Value = cutText(text, length, set)
	}
	a.Question, a.Note = plain.Head(a.Question, shortLength), cutText(a.Note, length, set)
}

// cutText cuts a text and names the refs that went with it.
func cutText(s string, length int, set *media.Set) string {
	short := CutMiddle(s, length)
	if short == s {
		return s
	}
	for _, o := range survivors(set, s) {
		if !mentions(short, o.Ref) {
			short += fmt.Sprintf("\n%s %s", o.Ref, plain.Head(o.Label, 48))
		}
	}
	return short
}

func (o *Opening) truncate(length int, set *media.Set) {
	var gone []media.Output
	if text := CutMiddle(o.Task, length); text != o.Task {
		gone = append(gone, survivors(set, o.Task)...)
		o.Task = text
	}
	if text := string(plain.JSON(o.Input)); len(o.Input) > 0 && utf8.RuneCountInString(text) > length+spare {
		gone = append(gone, survivors(set, text)...)
		o.Input = map[string]any{"shortened": CutMiddle(text, length)}
	}
	if o.earlier != nil {
		o.earlier.Did = o.earlier.Did[max(0, len(o.earlier.Did)-leastDid):]
	}
	if len(gone) == 0 {
		return
	}
	if o.earlier == nil {
		o.earlier = &earlier{}
	}
	o.remember(gone)
}

// truncate leaves of results what happened, in short, and the refs.
func (r *Results) truncate(length int, set *media.Set) {
	r.Views = nil
	r.shrink(levelRemoved, 0, set)
	short := min(shortLength, length)
	for i := range r.Actions {
		a := &r.Actions[i]
		gone := survivors(set, a.Message)
		a.Message, a.Warnings = plain.Head(a.Message, short), nil
		if a.Error != nil {
			p := *a.Error
			p.Message, p.Valid = plain.Head(p.Message, short), p.Valid[:min(len(p.Valid), maxValid)]
			a.Error = &p
		}
		for _, o := range gone {
			if !mentions(a.Message, o.Ref) && !mentions(string(plain.JSON(a.Outputs)), o.Ref) {
				list, _ := a.Outputs["media"].([]map[string]any)
				a.Outputs = object.Set(a.Outputs, map[string]any{"media": append(slices.Clone(list), action.View(o))})
			}
		}
	}
	for i := range r.Agents {
		a := &r.Agents[i]
		gone := survivors(set, a.Message)
		a.Message = plain.Head(a.Message, short)
		for _, o := range gone {
			if !mentions(a.Message+string(plain.JSON(a.Media))+string(plain.JSON(a.Payload)), o.Ref) {
				a.Media = append(a.Media, action.View(o))
			}
		}
	}
	if r.Answer != nil {
		r.Answer.truncate(length, set)
	}
	for i := range r.Errors {
		r.Errors[i].Message = plain.Head(r.Errors[i].Message, short)
	}
	r.Warnings = nil
}
