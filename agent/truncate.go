package agent

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"atelier/action"
	"atelier/chat"
	"atelier/media"
)

// lengths gives the length of every part of a payload, in characters of its JSON.
func lengths(payload map[string]any) map[string]int {
	if len(payload) == 0 {
		return nil
	}
	out := make(map[string]int, len(payload))
	for k, v := range payload {
		out[k] = utf8.RuneCount(plain(v))
	}
	return out
}

// truncate cuts every message to a length, the opening too. Refs that were in what
// went stay named.
func (r *run) truncate(length int) bool {
	changed := false
	for i := range r.history.entries {
		e := &r.history.entries[i]
		before := e.msg.Text()
		switch {
		case e.opening != nil:
			e.opening.truncate(length, r.set)
			e.render()
		case e.results != nil:
			e.results.truncate(length, r.set)
			e.render()
		default:
			e.msg = chat.Text(e.msg.Role, cutText(before, length, r.set))
		}
		changed = changed || e.msg.Text() != before
	}
	return changed
}

// cutText cuts a text and names the refs that went with it.
func cutText(s string, length int, set *media.Set) string {
	short := cutMiddle(s, length)
	if short == s {
		return s
	}
	for _, o := range survivors(set, s) {
		if !mentions(short, o.Ref) {
			short += fmt.Sprintf("\n%s %s", o.Ref, head(o.Label, 48))
		}
	}
	return short
}

func (o *opening) truncate(length int, set *media.Set) {
	var gone []media.Output
	if text := cutMiddle(o.task, length); text != o.task {
		gone = append(gone, survivors(set, o.task)...)
		o.task = text
	}
	if text := string(plain(o.input)); len(o.input) > 0 && utf8.RuneCountInString(text) > length+spare {
		gone = append(gone, survivors(set, text)...)
		o.input = map[string]any{"shortened": cutMiddle(text, length)}
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
func (r *results) truncate(length int, set *media.Set) {
	r.views = nil
	r.shrink(levelRemoved, 0, set)
	told := min(toldLength, length)
	for i := range r.Actions {
		a := &r.Actions[i]
		gone := survivors(set, a.Message)
		a.Message, a.Warnings = head(a.Message, told), nil
		if a.Error != nil {
			p := *a.Error
			p.Message, p.Valid = head(p.Message, told), p.Valid[:min(len(p.Valid), maxValid)]
			a.Error = &p
		}
		for _, o := range gone {
			if !mentions(a.Message, o.Ref) && !mentions(string(plain(a.Outputs)), o.Ref) {
				a.Outputs = withMedia(a.Outputs, o)
			}
		}
	}
	for i := range r.Agents {
		a := &r.Agents[i]
		gone := survivors(set, a.Message)
		a.Message = head(a.Message, told)
		for _, o := range gone {
			if !mentions(a.Message+string(plain(a.Media))+string(plain(a.Payload)), o.Ref) {
				a.Media = append(a.Media, action.View(o))
			}
		}
	}
	if r.Answer != nil {
		r.Answer.truncate(length, set)
	}
	for i := range r.Errors {
		r.Errors[i].Message = head(r.Errors[i].Message, told)
	}
	r.Warnings = nil
}

// withMedia adds an item to outputs without changing the map that others hold.
func withMedia(outputs map[string]any, o media.Output) map[string]any {
	list, _ := outputs["media"].([]map[string]any)
	return setKeys(outputs, map[string]any{"media": append(slices.Clone(list), action.View(o))})
}
