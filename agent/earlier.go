package agent

import (
	"slices"

	"atelier/chat"
)

// remembered is the conversation before the task as plain text messages.
func (r *run) remembered() []chat.Message {
	var out []chat.Message
	for _, m := range r.earlier {
		if text := m.Text(); !blank(text) {
			out = append(out, chat.Text(m.Role, text))
		}
	}
	return out
}

// recall puts the conversation before the task into the history. Answers stand in the
// form of the step contract, so that a model goes on in it.
func (r *run) recall() {
	for _, m := range r.remembered() {
		if m.Role == chat.RoleAssistant {
			m = chat.Text(m.Role, string(plain(map[string]any{"message": m.Text(), "done": true})))
		}
		r.history.entries = append(r.history.entries, entry{msg: m, earlier: true})
	}
}

// forget takes what was said before the run out of the history. It reports whether
// there was anything.
func (h *history) forget() bool {
	n := len(h.entries)
	h.entries = slices.DeleteFunc(h.entries, func(e entry) bool { return e.earlier })
	return len(h.entries) < n
}
