package agent

import (
	"regexp"
	"slices"
	"strconv"
	"unicode/utf8"

	"atelier/action"
	"atelier/chat"
	"atelier/media"
)

// entry is one message of a run's history. What is more than text is kept apart, so
// that it can be made shorter when the context has to shrink.
type entry struct {
	msg     chat.Message
	opening *opening
	results *results
	turn    int
	// earlier marks what was said before the run began.
	earlier bool
}

// render writes the message anew after a part of it changed.
func (e *entry) render() {
	switch {
	case e.results != nil:
		e.msg = e.results.message()
	case e.opening != nil:
		e.msg = e.opening.message()
	}
}

// history is what the model has been told. It grows by whole entries; the first one
// is the opening and stays.
type history struct{ entries []entry }

func (h *history) add(turn int, m chat.Message, r *results) {
	h.entries = append(h.entries, entry{msg: m, results: r, turn: turn})
}

// begin puts the opening in.
func (h *history) begin(o opening) {
	h.entries = append(h.entries, entry{msg: o.message(), opening: &o})
}

func (h *history) messages() []chat.Message {
	out := make([]chat.Message, len(h.entries))
	for i, e := range h.entries {
		out[i] = e.msg
	}
	return out
}

// notice puts a word to the model into what it was told last.
func (h *history) notice(text string) {
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

// level is how much of a result the model still sees. It only ever falls, so that
// nothing is shortened, or summarised and paid for, twice.
type level int

const (
	levelWhole level = iota
	levelCompact
	levelRemoved
)

// leftOut stands where something was.
const leftOut = "[left out: this result is old]"

// spare is by how much a text must be longer than its shortened form to be worth it.
const spare = 200

// due reports whether the outputs of an action can still fall to a level, and gives
// their text.
func (r *results) due(i int, to level, length int) (string, bool) {
	if r.actionLevel(i) >= to || len(r.Actions[i].Outputs) == 0 {
		return "", false
	}
	text := string(plain(r.Actions[i].Outputs))
	return text, utf8.RuneCountInString(text) > length+spare
}

// shrinkAction cuts the outputs of an action to a level; every ref survives with its
// label. Short outputs stay as they are.
func (r *results) shrinkAction(i int, to level, length int, set *media.Set) bool {
	text, ok := r.due(i, to, length)
	if !ok {
		return false
	}
	short := leftOut
	if to == levelCompact {
		short = head(text, length) + "… " + leftOut
	}
	r.replace(i, to, map[string]any{"shortened": short}, survivors(set, text))
	return true
}

// replace puts what is left of an action's outputs in their place.
func (r *results) replace(i int, to level, short map[string]any, kept []media.Output) {
	o := &r.Actions[i]
	if views := viewsOf(kept); len(views) > 0 {
		short["media"] = views
	}
	if more := len(o.Media) - len(kept); more > 0 {
		short["moreMedia"] = more
	}
	o.Outputs = short
	r.levels[i] = to
}

// shrinkAgent cuts the payload of a sub-agent's answer as shrinkAction cuts outputs.
func (r *results) shrinkAgent(i int, to level, length int, set *media.Set) bool {
	a := &r.Agents[i]
	if a.level >= to || len(a.Payload) == 0 {
		return false
	}
	text := string(plain(a.Payload))
	if utf8.RuneCountInString(text) <= length+spare {
		return false
	}
	short := leftOut
	if to == levelCompact {
		short = head(text, length) + "… " + leftOut
	}
	a.Payload, a.level = map[string]any{"shortened": short}, to
	shown := string(plain(a.Media)) + a.Message
	for _, o := range survivors(set, text) {
		if !mentions(shown, o.Ref) {
			a.Media = append(a.Media, action.View(o))
		}
	}
	return true
}

// shrink cuts every result of a step.
func (r *results) shrink(to level, length int, set *media.Set) bool {
	changed := false
	for i := range r.Actions {
		changed = r.shrinkAction(i, to, length, set) || changed
	}
	for i := range r.Agents {
		changed = r.shrinkAgent(i, to, length, set) || changed
	}
	return changed
}

// actionLevel makes room for the levels when they are first asked for.
func (r *results) actionLevel(i int) level {
	if r.levels == nil {
		r.levels = make([]level, len(r.Actions))
	}
	return r.levels[i]
}

// viewTurns is for how many turns a picture that was asked for stays in sight.
const viewTurns = 1

// blind takes the pictures out of a message that have been shown long enough.
func (e *entry) blind(turn int) bool {
	n := len(e.results.views)
	e.results.views = slices.DeleteFunc(e.results.views, func(s sight) bool { return turn-e.turn > s.turns })
	return len(e.results.views) < n
}

// anyRef finds refs in text, wrapped or bare.
var anyRef = regexp.MustCompile(`\b(?:img|aud|vid|doc)-[0-9a-z]{8}\b`)

// survivors lists the items of the run that a text names, in the order of the text:
// what must stay in sight when the text goes.
func survivors(set *media.Set, text string) []media.Output {
	var kept []media.Output
	seen := map[string]bool{}
	for _, ref := range anyRef.FindAllString(text, -1) {
		if seen[ref] {
			continue
		}
		seen[ref] = true
		if o, ok := set.Lookup(media.Ref(ref)); ok {
			kept = append(kept, o)
		}
	}
	return kept
}

// mentions reports whether a text names an item.
func mentions(text string, ref media.Ref) bool {
	for _, found := range anyRef.FindAllString(text, -1) {
		if found == string(ref) {
			return true
		}
	}
	return false
}

func viewsOf(items []media.Output) []map[string]any {
	var out []map[string]any
	for _, o := range items {
		out = append(out, action.View(o))
	}
	return out
}

// head gives the first n characters of a text.
func head(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// cutMiddle keeps the first and the last characters of a text, n together, and says
// how many went.
func cutMiddle(s string, n int) string {
	total := utf8.RuneCountInString(s)
	if total <= n+spare {
		return s
	}
	first := head(s, n*2/3)
	last := s
	for skip := total - n/3; skip > 0; skip-- {
		_, size := utf8.DecodeRuneInString(last)
		last = last[size:]
	}
	return first + "\n[… " + strconv.Itoa(total-n*2/3-n/3) + " characters left out of this message; what went into the payload is kept whole …]\n" + last
}
