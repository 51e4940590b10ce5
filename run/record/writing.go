package record

import (
	"sync"

	"atelier/agent"
	"atelier/ledger"
	"atelier/run/operations"
)

// messages are the messages that models are writing, by run tree. A new subscriber first gets their text so far.
type messages struct {
	mu sync.Mutex // guards by
	by map[string]message
}

type message struct {
	event ledger.Event
	text  []rune
}

// note adds the part of a message that an event contains.
func (m *messages) note(e agent.Event, row ledger.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch d := e.Data.(type) {
	case agent.MessageDelta:
		if !d.Partial {
			delete(m.by, e.Tree) // it is in the record
			return
		}
		if m.by == nil {
			m.by = map[string]message{}
		}
		text := m.by[e.Tree].text
		m.by[e.Tree] = message{row, append(text[:min(d.Offset, len(text))], []rune(d.Text)...)}
	case agent.MessageWithdrawn:
		delete(m.by, e.Tree)
	case agent.RunFinished:
		if e.RunID == e.Tree {
			delete(m.by, e.Tree)
		}
	}
}

// now returns the messages of a tree, or of all trees if tree is empty, as one part each.
func (m *messages) now(tree string) []ledger.Event {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []ledger.Event
	for of, w := range m.by {
		if tree == "" || tree == of {
			e := w.event
			e.Payload = operations.Encode(agent.MessageDelta{Text: string(w.text), Partial: true})
			out = append(out, e)
		}
	}
	return out
}
