package agent

import (
	"context"
	"slices"
)

// heldAct is an act that waits for a person.
type heldAct struct {
	rec StepRecord
	// child is the sub-agent that waits; nil where the act itself does.
	child *run
}

// unwait ends the acts that wait for a person where their run ends all the same, because it
// is cancelled or its time is over. A retry asks again.
func (r *run) unwait(ctx context.Context, why error) {
	held := r.wait.release(r)
	if len(held) == 0 {
		return
	}
	r.mu.Lock()
	r.steps = slices.DeleteFunc(r.steps, func(s StepRecord) bool { return s.Status == StatusPaused })
	r.mu.Unlock()
	for _, h := range held {
		if h.child == nil {
			r.cutOff(ctx, h.rec, why)
			continue
		}
		res, err := h.child.finish(h.child.scoped(ctx), why)
		r.delegated(ctx, h.rec, h.child, res, err)
		r.mu.Lock()
		for _, s := range res.Steps {
			if !slices.ContainsFunc(r.steps, func(own StepRecord) bool { return own.ID == s.ID }) {
				r.steps = append(r.steps, s)
			}
		}
		r.mu.Unlock()
	}
}

// cutOff ends an act that nobody allowed.
func (r *run) cutOff(ctx context.Context, rec StepRecord, why error) {
	out := refused(rec.Name, why)
	rec.Status, rec.Code, rec.Message = StatusCancelled, out.Code, out.Message
	r.end(ctx, rec)
	r.emit(ctx, EventActionFinished, ActionFinished{
		StepID: rec.ID, Name: rec.Name, Turn: rec.Turn, Code: out.Code, Message: out.Message, Cut: true,
	})
}
