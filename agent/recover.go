package agent

import (
	"context"
	"fmt"
	"slices"

	"atelier/action"
	"atelier/chat"
	"atelier/media"
)

// stage is one way to make the context shorter. The stages are tried in order, each
// on top of those before it.
type stage struct {
	// did says, in a warning, what was done.
	did string
	// shrink reports whether it changed anything.
	shrink func(r *run) bool
}

// The lengths of the stages, in characters.
const (
	messageLength = 4000
	leastLength   = 1000
	toldLength    = 300
)

// keptExchanges is how many of the last answers of the model, each with what it was
// told then, stay when the history is trimmed.
const keptExchanges = 2

// stages are what is done about a context that does not fit, the mildest first.
func stages() []stage {
	return []stage{
		{"old results were left out", func(r *run) bool { return r.history.dropOld(r.set) }},
		{"results were cut to their beginnings", func(r *run) bool { return r.history.compactRest(r.set) }},
		{"the pictures of the task were left out", func(r *run) bool { return r.history.unshow() }},
		{"what was said before the task was left out", func(r *run) bool { return r.history.forget() }},
		{"earlier messages were left out", (*run).trim},
		{"long messages were cut", func(r *run) bool { return r.truncate(messageLength) }},
		{"messages were cut to the utmost", func(r *run) bool { return r.truncate(leastLength) }},
	}
}

// askWithin asks the model and, where the context does not fit it, makes the context
// shorter stage by stage, and asks again after every stage that changed something. A
// call that was refused for its length costs nothing. What went stays out; a later
// turn that does not fit goes through the stages anew.
func (r *run) askWithin(ctx context.Context) (chat.Response, error) {
	resp, err := r.ask(ctx, 0)
	for i, s := range stages() {
		if media.CodeOf(err) != media.CodeContextLength {
			return resp, err
		}
		if !s.shrink(r) {
			continue
		}
		r.warn(ctx, fmt.Sprintf("turn %d of %s: the conversation was too long for %s: %s", r.turns, r.spec.slug, r.model.Profile().Name, s.did))
		resp, err = r.ask(ctx, i+1)
	}
	if media.CodeOf(err) == media.CodeContextLength {
		return resp, media.Errorf(media.CodeContextLength, "the prompt of agent %s does not fit the model with everything shortened: choose a chat model with a larger context, or give less text: %w", r.spec.slug, err)
	}
	return resp, err
}

// newest finds the last entry with results, or -1.
func (h *history) newest() int {
	for i := len(h.entries) - 1; i >= 0; i-- {
		if h.entries[i].results != nil {
			return i
		}
	}
	return -1
}

// dropOld takes the outputs of all results but the newest, and old pictures.
func (h *history) dropOld(set *media.Set) bool {
	newest, changed := h.newest(), false
	for i := range h.entries {
		e := &h.entries[i]
		if e.results == nil || i == newest {
			continue
		}
		blinded := len(e.results.views) > 0
		e.results.views = nil
		if e.results.shrink(levelRemoved, 0, set) || blinded {
			e.render()
			changed = true
		}
	}
	return changed
}

// unshow takes the pictures that came with the task out.
func (h *history) unshow() bool {
	changed := false
	for i := range h.entries {
		e := &h.entries[i]
		if e.opening == nil || len(e.opening.images) == 0 {
			continue
		}
		for _, s := range e.opening.images {
			e.opening.unseen = append(e.opening.unseen, string(s.ref)+" is not shown any more: the conversation is too long.")
		}
		e.opening.images, changed = nil, true
		e.render()
	}
	return changed
}

// compactRest keeps the beginnings of what the newest results hold.
func (h *history) compactRest(set *media.Set) bool {
	i := h.newest()
	if i < 0 {
		return false
	}
	e := &h.entries[i]
	blinded := len(e.results.views) > 0
	e.results.views = nil
	if !e.results.shrink(levelCompact, defaultCompactLength, set) && !blinded {
		return false
	}
	e.render()
	return true
}

// earlier is what stays of messages that were left out.
type earlier struct {
	Messages int `json:"messagesLeftOut"`
	// Did are the acts of the turns that were left out, Payload the parts of the answer
	// that stand already, with their lengths.
	Did     []string         `json:"did,omitempty"`
	Payload map[string]int   `json:"payloadCharacters,omitempty"`
	Media   []map[string]any `json:"media,omitempty"`
}

// How many acts of trimmed turns stay named, the newest of them, before and after
// messages are cut.
const (
	maxDid   = 30
	leastDid = 10
)

// trim leaves out the messages between the opening and the last exchanges. What was
// done, what stands in the payload, and every ref stay named in the opening.
func (r *run) trim() bool {
	h := &r.history
	keep := 2 * keptExchanges
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
		o.remember(survivors(r.set, e.msg.Text()))
		if e.results != nil {
			o.earlier.Did = append(o.earlier.Did, e.results.did(e.turn)...)
		}
	}
	o.earlier.Did = o.earlier.Did[max(0, len(o.earlier.Did)-maxDid):]
	o.earlier.Payload = lengths(r.payload)
	h.entries[0].render()
	h.entries = slices.Delete(h.entries, 1, len(h.entries)-keep)
	return true
}

// remember keeps items in sight that the rest of the opening does not show.
func (o *opening) remember(items []media.Output) {
	shown := o.message().Text()
	for _, item := range items {
		if !mentions(shown, item.Ref) {
			o.earlier.Media = append(o.earlier.Media, action.View(item))
		}
	}
}

// did lists the acts of a step in a few words each.
func (r *results) did(turn int) []string {
	var out []string
	for _, a := range r.Actions {
		out = append(out, fmt.Sprintf("turn %d: %s: %s %s", turn, a.Name, a.Code, head(a.Message, 80)))
	}
	for _, a := range r.Agents {
		word := "done"
		if !a.Success {
			word = "failed"
		}
		out = append(out, fmt.Sprintf("turn %d: agent %s: %s %s", turn, a.Name, word, head(a.Message, 80)))
	}
	if r.Answer != nil {
		out = append(out, fmt.Sprintf("turn %d: asked %q, a person answered %s", turn, head(r.Answer.Question, 80), head(string(plain(r.Answer.Value)), 200)))
	}
	return out
}
