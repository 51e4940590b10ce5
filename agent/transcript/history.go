// Package transcript builds the messages that a chat model is sent in a run: the task with its context, the
// model's answers, the results of each step, and the pictures in sight. It also shortens them when results
// get old or the context does not fit. The refs of everything left out stay named.
//
// It returns no errors. It may import action, chat, media and agent/definition.
package transcript

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"unicode/utf8"

	"atelier/action"
	"atelier/agent/definition"
	"atelier/agent/internal/plain"
	"atelier/chat"
	"atelier/media"
)

// entry is one message of a run's history. Anything other than plain text is kept separately, so
// that it can be shortened when the context has to shrink.
type entry struct {
	msg     chat.Message
	opening *Opening
	results *Results
	turn    int
	// earlier marks messages from before the run.
	earlier bool
}

// render rebuilds the message after a part of it changed.
func (e *entry) render() {
	switch {
	case e.results != nil:
		e.msg = e.results.message()
	case e.opening != nil:
		e.msg = e.opening.message()
	}
}

// History is what the model has read and answered. It grows by whole entries. The first entry is the opening and stays.
type History struct{ entries []entry }

// AddAnswer adds an answer of the model.
func (h *History) AddAnswer(turn int, text string) {
	h.entries = append(h.entries, entry{msg: chat.Text(chat.RoleAssistant, text), turn: turn})
}

// AddResults adds the results that the model reads after a step.
func (h *History) AddResults(turn int, res Results) {
	h.entries = append(h.entries, entry{msg: res.message(), results: &res, turn: turn})
}

// Begin adds the opening.
func (h *History) Begin(o Opening) {
	for i := range o.Images {
		o.Images[i].Given = true
	}
	h.entries = append(h.entries, entry{msg: o.message(), opening: &o})
}

// Recall adds a conversation before the task. Answers are converted to the form of the step
// contract, so that the model continues in that form.
func (h *History) Recall(messages []chat.Message) {
	for _, m := range messages {
		if m.Role == chat.RoleAssistant {
			m = chat.Text(m.Role, string(plain.JSON(map[string]any{"message": m.Text(), "done": true})))
		}
		h.entries = append(h.entries, entry{msg: m, earlier: true})
	}
}

// Messages returns the messages sent to the model.
func (h *History) Messages() []chat.Message {
	out := make([]chat.Message, len(h.entries))
	for i, e := range h.entries {
		out[i] = e.msg
	}
	return out
}

// Notice adds a notice to the last message that the model reads.
func (h *History) Notice(text string) {
	e := &h.entries[len(h.entries)-1]
	switch {
	case e.results != nil:
		e.results.Notice = text
	case e.opening != nil:
		e.opening.notice = text
	default:
		e.msg.Parts = append(e.msg.Parts, chat.Part{Text: "\n\n" + text})
	}
	e.render()
}

// pictures returns the pictures that a message shows.
func (e *entry) pictures() *[]Sight {
	switch {
	case e.opening != nil:
		return &e.opening.Images
	case e.results != nil:
		return &e.results.Views
	}
	return &[]Sight{}
}

// hide removes pictures from a message and returns their refs. The model is told of each by note, a format for its ref,
// unless it is empty.
func (e *entry) hide(note string, gone func(Sight) bool) (refs []media.Ref) {
	views := e.pictures()
	*views = slices.DeleteFunc(*views, func(s Sight) bool {
		is := gone(s)
		if is {
			refs = append(refs, s.Ref)
		}
		return is
	})
	for _, ref := range refs {
		switch {
		case note == "":
		case e.opening != nil:
			e.opening.Unseen = append(e.opening.Unseen, fmt.Sprintf(note, ref))
		default:
			e.results.Warnings = append(e.results.Warnings, fmt.Sprintf(note, ref))
		}
	}
	if len(refs) > 0 {
		e.render()
	}
	return refs
}

// Given returns the number of pictures in sight that people provided.
func (h *History) Given() int {
	n := 0
	for i := range h.entries {
		for _, s := range *h.entries[i].pictures() {
			if s.Given {
				n++
			}
		}
	}
	return n
}

// ReplaceGiven removes earlier pictures provided by people from sight.
func (h *History) ReplaceGiven() {
	for i := range h.entries {
		h.entries[i].hide("%s is not shown any more: the person gave other pictures.", func(s Sight) bool { return s.Given })
	}
}

// Withdraw removes the oldest pictures shown by the policy if newer ones leave no room for them.
func (h *History) Withdraw(turn int, p definition.VisionContextPolicy, count int, bytes int64) {
	for i := len(h.entries) - 1; i >= 0; i-- {
		e := &h.entries[i]
		e.hide("", func(s Sight) bool {
			if !s.Policy {
				return false
			}
			count, bytes = count+1, bytes+s.Shown.SizeBytes
			return count > p.MaxImages || bytes > p.MaxTotalBytes || turn+1-e.turn > s.Turns
		})
	}
}

// RemovePicture removes a picture from all messages, tells the model why, and returns the refs under which
// it was shown.
func (h *History) RemovePicture(d media.Digest, reason string) (refs []media.Ref) {
	for i := range h.entries {
		for _, ref := range h.entries[i].hide("You cannot see %s any more: "+reason+".", func(s Sight) bool { return s.Shown.Digest == d }) {
			plain.AddOnce(&refs, ref)
		}
	}
	return refs
}

// level says how much of a result the model still sees. It only ever decreases, so that nothing is
// shortened, or summarised and paid for, twice.
type level int

const (
	levelWhole level = iota
	levelCompact
	levelRemoved
)

// leftOut replaces text that was removed.
const leftOut = "[left out: this result is old]"

// minSaving is how much longer than its shortened form a text must be for shortening to be worthwhile.
const minSaving = 200

// due reports whether the outputs of an action can still be reduced to a level, and returns their text.
func (r *Results) due(i int, to level, length int) (string, bool) {
	if r.levels[i] >= to || len(r.Actions[i].Outputs) == 0 {
		return "", false
	}
	text := string(plain.JSON(r.Actions[i].Outputs))
	return text, utf8.RuneCountInString(text) > length+minSaving
}

// shrinkAction reduces the outputs of an action to a level. Every ref survives with its label.
// Short outputs stay as they are.
func (r *Results) shrinkAction(i int, to level, length int, set *media.Set) bool {
	text, ok := r.due(i, to, length)
	if ok {
		r.replace(i, to, shortened(text, to, length), mentionedItems(set, text))
	}
	return ok
}

// shortened returns what remains of a text at a level.
func shortened(text string, to level, length int) map[string]any {
	if to == levelCompact {
		return map[string]any{"shortened": media.Head(text, length) + "… " + leftOut}
	}
	return map[string]any{"shortened": leftOut}
}

// replace replaces an action's outputs with their shortened form.
func (r *Results) replace(i int, to level, short map[string]any, kept []media.Output) {
	o := &r.Actions[i]
	if views := ViewsOf(kept); len(views) > 0 {
		short["media"] = views
	}
	if more := len(o.Media) - len(kept); more > 0 {
		short["moreMedia"] = more
	}
	o.Outputs = short
	if r.levels == nil {
		r.levels = map[int]level{}
	}
	r.levels[i] = to
}

// shrink shortens every result of a step: the outputs of actions and the payloads of sub-agents.
func (r *Results) shrink(to level, length int, set *media.Set) bool {
	changed := false
	for i := range r.Actions {
		changed = r.shrinkAction(i, to, length, set) || changed
	}
	for i := range r.Agents {
		a := &r.Agents[i]
		if a.level >= to || len(a.Payload) == 0 {
			continue
		}
		text := string(plain.JSON(a.Payload))
		if utf8.RuneCountInString(text) <= length+minSaving {
			continue
		}
		a.Payload, a.level, changed = shortened(text, to, length), to, true
		a.nameLost(set, text, string(plain.JSON(a.Media))+a.Message)
	}
	return changed
}

// ViewTurns is the number of turns for which a requested picture stays in sight.
const ViewTurns = 1

// anyRef finds refs in text, with or without the placeholder syntax.
var anyRef = regexp.MustCompile(`\b(?:img|aud|vid|doc)-[0-9a-z]{8}\b`)

// mentionedItems returns the run's items that a text names, in the order of the text. They must stay in
// sight when the text is removed.
func mentionedItems(set *media.Set, text string) []media.Output {
	var kept []media.Output
	seen := map[string]bool{}
	for _, ref := range anyRef.FindAllString(text, -1) {
		o, ok := set.Lookup(media.Ref(ref))
		if ok && !seen[ref] {
			seen[ref] = true
			kept = append(kept, o)
		}
	}
	return kept
}

// lost returns the run's items that a removed text names and the remaining one does not.
func lost(set *media.Set, removed, remaining string) []media.Output {
	named := anyRef.FindAllString(remaining, -1)
	return slices.DeleteFunc(mentionedItems(set, removed), func(o media.Output) bool { return slices.Contains(named, string(o.Ref)) })
}

// ViewsOf returns items in the form in which results show them.
func ViewsOf(items []media.Output) []map[string]any {
	var out []map[string]any
	for _, o := range items {
		out = append(out, action.View(o))
	}
	return out
}

// CutMiddle keeps the beginning and the end of a text, n characters in total, and states how many
// characters were removed.
func CutMiddle(s string, n int) string {
	total := utf8.RuneCountInString(s)
	if total <= n+minSaving {
		return s
	}
	first := media.Head(s, n*2/3)
	last := s[len(media.Head(s, total-n/3)):]
	return first + "\n[… " + strconv.Itoa(total-n*2/3-n/3) + " characters left out of this message; what went into the payload is kept whole …]\n" + last
}
