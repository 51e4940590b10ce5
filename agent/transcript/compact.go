package transcript

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"atelier/action"
	"atelier/agent/definition"
	"atelier/agent/internal/object"
	"atelier/agent/internal/plain"
	"atelier/chat"
	"atelier/media"
)

// Stage is one way to shorten the context. The stages are applied in order, each on top of the previous ones.
type Stage struct {
	// Description describes in a warning what was done.
	Description string
	// Shrink reports whether it changed anything.
	Shrink func(h *History, set *media.Set, payload map[string]any) bool
}

// The lengths used by the stages, in characters.
const (
	messageLength = 4000
	minLength     = 1000
	shortLength   = 300
)

// keepExchanges is the number of the model's last answers, each with the following message, that
// stay when the history is trimmed.
const keepExchanges = 2

// Stages returns the stages for a context that does not fit, the mildest first.
func Stages() []Stage {
	type object = map[string]any
	return []Stage{
		{"old results were left out", func(h *History, set *media.Set, _ object) bool {
			newest, changed := h.newest(), false
			for i := range h.entries {
				if h.entries[i].results != nil && i != newest {
					changed = h.entries[i].shrink(levelRemoved, 0, set) || changed
				}
			}
			return changed
		}},
		{"results were cut to their beginnings", func(h *History, set *media.Set, _ object) bool {
			i := h.newest()
			return i >= 0 && h.entries[i].shrink(levelCompact, definition.DefaultCompactLength, set)
		}},
		{"the pictures of the task were left out", func(h *History, _ *media.Set, _ object) bool {
			changed := false
			for i := range h.entries {
				if e := &h.entries[i]; e.opening != nil {
					changed = len(e.hide("%s is not shown any more: the conversation is too long.", func(Sight) bool { return true })) > 0 || changed
				}
			}
			return changed
		}},
		{"what was said before the task was left out", func(h *History, _ *media.Set, _ object) bool {
			n := len(h.entries)
			h.entries = slices.DeleteFunc(h.entries, func(e entry) bool { return e.earlier })
			return len(h.entries) < n
		}},
		{"earlier messages were left out", (*History).trim},
		{"long messages were cut", func(h *History, set *media.Set, _ object) bool { return h.truncate(messageLength, set) }},
		{"messages were cut to the utmost", func(h *History, set *media.Set, _ object) bool { return h.truncate(minLength, set) }},
	}
}

// newest returns the index of the last entry with results, or -1.
func (h *History) newest() int {
	for i := len(h.entries) - 1; i >= 0; i-- {
		if h.entries[i].results != nil {
			return i
		}
	}
	return -1
}

// shrink reduces the results of a message to a level and removes its pictures.
func (e *entry) shrink(to level, length int, set *media.Set) bool {
	hidden := e.hide("", func(Sight) bool { return true })
	if !e.results.shrink(to, length, set) {
		return len(hidden) > 0
	}
	e.render()
	return true
}

// earlier describes messages that were left out.
type earlier struct {
	Messages int `json:"messagesLeftOut"`
	// Did lists the acts of the turns that were left out. Payload lists the parts of the payload so
	// far, with their lengths.
	Did     []string         `json:"did,omitempty"`
	Payload map[string]int   `json:"payloadCharacters,omitempty"`
	Media   []map[string]any `json:"media,omitempty"`
}

// The number of most recent acts of trimmed turns that stay named, before and after messages are cut.
const (
	maxDid = 30
	minDid = 10
)

// trim removes the messages between the opening and the last exchanges. The opening still names the
// acts, the parts of the payload, and every ref.
func (h *History) trim(set *media.Set, payload map[string]any) bool {
	keep := 2 * keepExchanges
	if len(h.entries) <= 1+keep {
		keep = 2
	}
	if len(h.entries) <= 1+keep || h.entries[0].opening == nil {
		return false
	}
	cut := h.entries[1 : len(h.entries)-keep]
	o := h.entries[0].opening
	if o.earlier == nil {
		o.earlier = &earlier{}
	}
	o.earlier.Messages += len(cut)
	for _, e := range cut {
		o.remember(set, e.msg.Text())
		if e.results != nil {
			o.earlier.Did = append(o.earlier.Did, e.results.actSummaries(e.turn)...)
		}
	}
	o.earlier.Did = o.earlier.Did[max(0, len(o.earlier.Did)-maxDid):]
	o.earlier.Payload = make(map[string]int, len(payload)) // in characters of the value's JSON
	for k, v := range payload {
		o.earlier.Payload[k] = utf8.RuneCount(plain.JSON(v))
	}
	h.entries[0].render()
	h.entries = slices.Delete(h.entries, 1, len(h.entries)-keep)
	return true
}

// remember adds the items of a removed text to the opening, unless the rest of it shows them.
func (o *Opening) remember(set *media.Set, removed string) {
	o.earlier.Media = append(o.earlier.Media, ViewsOf(lost(set, removed, o.message().Text()))...)
}

// actSummaries describes each act of a step in a few words.
func (r *Results) actSummaries(turn int) []string {
	var out []string
	for _, a := range r.Actions {
		out = append(out, fmt.Sprintf("turn %d: %s: %s %s", turn, a.Name, a.Code, media.Head(a.Message, 80)))
	}
	for _, a := range r.Agents {
		word := "done"
		if !a.Success {
			word = "failed"
		}
		out = append(out, fmt.Sprintf("turn %d: agent %s: %s %s", turn, a.Name, word, media.Head(a.Message, 80)))
	}
	if r.Answer != nil {
		out = append(out, fmt.Sprintf("turn %d: asked %q, a person answered %s", turn, media.Head(r.Answer.Question, 80), media.Head(string(plain.JSON(r.Answer.Value)), 200)))
	}
	return out
}

// Expire shortens the results that are too old in a turn according to their action's entry, which
// uses returns. It returns the results that a model must summarise.
func (h *History) Expire(turn int, set *media.Set, uses func(action string) (definition.ActionUse, bool)) (due []Summary) {
	for i := range h.entries {
		e := &h.entries[i]
		if e.results == nil {
			continue
		}
		e.hide("", func(s Sight) bool { return turn-e.turn > s.Turns })
		changed := false
		for j := range e.results.Actions {
			use, ok := uses(e.results.Actions[j].Name)
			if !ok || !use.Expired(e.turn, turn) {
				continue
			}
			if use.CompactMode != definition.CompactSummarize || use.ExpirationMode != definition.ExpireCompact {
				to, length := levelRemoved, 0
				if use.ExpirationMode == definition.ExpireCompact {
					to, length = levelCompact, use.CompactLength
				}
				changed = e.results.shrinkAction(j, to, length, set) || changed
				continue
			}
			if text, long := e.results.due(j, levelCompact, use.CompactLength); long {
				due = append(due, Summary{entry: e, Index: j, Text: text, Use: use})
			}
		}
		if changed {
			e.render()
		}
	}
	return due
}

// Summary is a result to be summarised.
type Summary struct {
	entry *entry
	// Index is the action's position in its turn, from 0.
	Index int
	// Text is the JSON of the action's outputs.
	Text string
	Use  definition.ActionUse
}

// Outcome returns the result to be summarised.
func (s Summary) Outcome() action.Outcome { return s.entry.results.Actions[s.Index] }

// Made returns the turn of the result.
func (s Summary) Made() int { return s.entry.turn }

// Summarised replaces the result with a summary or, if that is empty, with its beginning.
func (s Summary) Summarised(summary string, set *media.Set) {
	short := map[string]any{"summary": summary}
	if summary == "" {
		short = shortened(s.Text, levelCompact, s.Use.CompactLength)
	}
	s.entry.results.replace(s.Index, levelCompact, short, mentionedItems(set, s.Text))
	s.entry.render()
}

// truncate cuts every message, including the opening, to a length. The refs of the removed text stay named.
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

// truncate keeps the beginning of a long answer, and the refs in it.
func (a *Answer) truncate(length int, set *media.Set) {
	text := string(plain.JSON(a.Value))
	if utf8.RuneCountInString(text) > length+minSaving {
		a.Value = cutText(text, length, set)
	}
	a.Question, a.Note = media.Head(a.Question, shortLength), cutText(a.Note, length, set)
}

// cutText cuts a text and names the refs that the cut removed.
func cutText(s string, length int, set *media.Set) string {
	short := CutMiddle(s, length)
	if short == s {
		return s
	}
	for _, o := range lost(set, s, short) {
		short += fmt.Sprintf("\n%s %s", o.Ref, media.Head(o.Label, 48))
	}
	return short
}

func (o *Opening) truncate(length int, set *media.Set) {
	removed := ""
	if text := CutMiddle(o.Task, length); text != o.Task {
		removed, o.Task = o.Task, text
	}
	if text := string(plain.JSON(o.Input)); len(o.Input) > 0 && utf8.RuneCountInString(text) > length+minSaving {
		removed += "\n" + text
		o.Input = map[string]any{"shortened": CutMiddle(text, length)}
	}
	if o.earlier != nil {
		o.earlier.Did = o.earlier.Did[max(0, len(o.earlier.Did)-minDid):]
	}
	if len(mentionedItems(set, removed)) == 0 {
		return
	}
	if o.earlier == nil {
		o.earlier = &earlier{}
	}
	o.remember(set, removed)
}

// truncate reduces results to a short account of what happened, and the refs.
func (r *Results) truncate(length int, set *media.Set) {
	r.Views = nil
	r.shrink(levelRemoved, 0, set)
	short := min(shortLength, length)
	for i := range r.Actions {
		a := &r.Actions[i]
		whole := a.Message
		a.Message, a.Warnings = media.Head(a.Message, short), nil
		if a.Error != nil {
			p := *a.Error
			p.Message, p.Valid = media.Head(p.Message, short), p.Valid[:min(len(p.Valid), maxValid)]
			a.Error = &p
		}
		if gone := lost(set, whole, a.Message+string(plain.JSON(a.Outputs))); len(gone) > 0 {
			list, _ := a.Outputs["media"].([]map[string]any)
			a.Outputs = object.Set(a.Outputs, map[string]any{"media": slices.Concat(list, ViewsOf(gone))})
		}
	}
	for i := range r.Agents {
		a := &r.Agents[i]
		whole := a.Message
		a.Message = media.Head(a.Message, short)
		a.nameLost(set, whole, a.Message+string(plain.JSON(a.Media))+string(plain.JSON(a.Payload)))
	}
	if r.Answer != nil {
		r.Answer.truncate(length, set)
	}
	for i := range r.Errors {
		r.Errors[i].Message = media.Head(r.Errors[i].Message, short)
	}
	r.Warnings = nil
}
