package agent

import (
	"strings"

	"atelier/action"
	"atelier/chat"
	"atelier/media"
)

// entry is one message of a run's history. Results are kept apart from their text,
// so that they can be made shorter when they are old.
type entry struct {
	msg     chat.Message
	results *results
	turn    int
	// earlier marks what was said before the run began.
	earlier bool
}

// history is what the model has been told. It grows by whole entries.
type history struct{ entries []entry }

func (h *history) add(turn int, m chat.Message, r *results) {
	h.entries = append(h.entries, entry{msg: m, results: r, turn: turn})
}

func (h *history) messages() []chat.Message {
	out := make([]chat.Message, len(h.entries))
	for i, e := range h.entries {
		out[i] = e.msg
	}
	return out
}

// expire makes results shorter whose action's definition says that they are too old.
func (h *history) expire(d *Definition, turn int) {
	for i := range h.entries {
		e := &h.entries[i]
		if e.results == nil {
			continue
		}
		changed := e.blind(turn)
		for j := range e.results.Actions {
			o := &e.results.Actions[j]
			use, ok := d.uses(o.Name)
			if !ok || use.ExpirationTurns == 0 || use.ExpirationMode == "None" || turn-e.turn <= use.ExpirationTurns {
				continue
			}
			length := 0
			if use.ExpirationMode == "Compact" {
				length = use.CompactLength
			}
			changed = shorten(o, length) || changed
		}
		if changed {
			e.msg = e.results.message()
		}
	}
}

// viewTurns is for how many turns a picture that was asked for stays in sight.
const viewTurns = 1

// blind takes the pictures out of a message that is old.
func (e *entry) blind(turn int) bool {
	if len(e.results.views) == 0 || turn-e.turn <= viewTurns {
		return false
	}
	e.results.views = nil
	return true
}

// dropOldest is the way out of a context that is too long: the outputs of all
// results but the newest leave. It reports whether anything did.
func (h *history) dropOldest() bool {
	last := -1
	for i, e := range h.entries {
		if e.results != nil {
			last = i
		}
	}
	dropped := false
	for i := range h.entries {
		e := &h.entries[i]
		if e.results == nil || i == last && dropped {
			continue
		}
		dropped, e.results.views = dropped || len(e.results.views) > 0, nil
		if i == last {
			// Nothing older could go: keep the beginnings of the newest.
			dropped = e.results.shorten(defaultCompactLength) || dropped
		} else {
			dropped = e.results.shorten(0) || dropped
		}
		e.msg = e.results.message()
	}
	return dropped
}

func (r *results) shorten(length int) bool {
	changed := false
	for i := range r.Actions {
		changed = shorten(&r.Actions[i], length) || changed
	}
	for i := range r.Agents {
		p := plain(r.Agents[i].Payload)
		if len(p) > length+200 {
			r.Agents[i].Payload = map[string]any{"shortened": cut(string(p), length)}
			changed = true
		}
	}
	return changed
}

// shorten cuts an outcome's outputs to length characters; every ref survives with
// its label. Short outputs stay as they are.
func shorten(o *action.Outcome, length int) bool {
	if len(o.Outputs) == 0 || o.Outputs["shortened"] != nil && length >= len(str(o.Outputs, "shortened")) {
		return false
	}
	text := string(plain(o.Outputs))
	if len(text) <= length+200 {
		return false
	}
	short := map[string]any{"shortened": cut(text, length)}
	if views := viewsOf(o.Media); len(views) > 0 {
		short["media"] = views
	}
	o.Outputs = short
	return true
}

func cut(text string, length int) string {
	if length == 0 {
		return "[left out: this result is old]"
	}
	return strings.TrimSuffix(clip(text, length), "…") + "… [left out: this result is old]"
}

func viewsOf(items []media.Output) []map[string]any {
	var out []map[string]any
	for _, o := range items {
		out = append(out, action.View(o))
	}
	return out
}
