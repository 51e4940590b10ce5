package transcript

import (
	"slices"

	"atelier/action"
	"atelier/agent/definition"
	"atelier/agent/internal/plain"
	"atelier/media"
)

// Expire makes results shorter whose action's entry, as uses gives it, says that they are too old in a
// turn. It gives those that a model shall summarise.
func (h *History) Expire(turn int, set *media.Set, uses func(action string) (definition.ActionUse, bool)) (due []Summary) {
	for i := range h.entries {
		e := &h.entries[i]
		if e.results == nil {
			continue
		}
		shown := len(e.results.Views)
		e.results.Views = slices.DeleteFunc(e.results.Views, func(s Sight) bool { return turn-e.turn > s.Turns })
		changed := len(e.results.Views) < shown
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

// Summary is one result to be summarised.
type Summary struct {
	entry *entry
	// Index is the place of the action among those of its turn, from 0.
	Index int
	// Text is the JSON of its outputs.
	Text string
	Use  definition.ActionUse
}

// Outcome is the result to be summarised.
func (s Summary) Outcome() action.Outcome { return s.entry.results.Actions[s.Index] }

// Made is the turn of the result.
func (s Summary) Made() int { return s.entry.turn }

// Summarised puts a summary in the place of the result.
func (s Summary) Summarised(short map[string]any, set *media.Set) {
	s.entry.results.replace(s.Index, levelCompact, short, survivors(set, s.Text))
	s.entry.render()
}

// Beginning is what stays of the result where there is no summary.
func (s Summary) Beginning() map[string]any {
	return map[string]any{"shortened": plain.Head(s.Text, s.Use.CompactLength) + "… " + leftOut}
}
