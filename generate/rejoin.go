package generate

import (
	"context"
	"math/big"
	"slices"
	"time"

	"atelier/media"
)

// rejoin goes on with an operation that ended because its caller gave up, as a run that was
// cancelled: tasks at the provider are asked for again instead of being begun, and calls
// that were never made are made. What was answered by then, and synchronous calls that were
// cut off, stay as they are. Nil where there is nothing to go on with.
func (g *Gateway) rejoin(ctx context.Context, operation string) (*Result, error) {
	log, ok := g.config.Operations.(Resumer)
	if !ok {
		return nil, nil
	}
	saved, err := log.Saved(ctx, operation)
	if err != nil {
		return nil, err
	}
	if len(saved.cutOff()) == 0 {
		return nil, nil
	}
	if err := g.here.enter(operation); err != nil {
		return nil, err
	}
	defer g.here.leave(operation)
	return g.reopened(ctx, log, resultOf(saved), func() (*Saved, error) { return g.reopenCut(ctx, log, operation) })
}

// cutOff lists the slots that can be gone on with after their caller gave up.
func (s *Saved) cutOff() (slots []int) {
	if s.Operation.FinishedAt.IsZero() {
		return nil
	}
	for _, slot := range s.Slots {
		if slot.Output == nil && slot.Error != nil && gaveUp(slot.Error.Code) && s.goesOn(slot.Index) {
			slots = append(slots, slot.Index)
		}
	}
	return slots
}

// gaveUp tells the errors of a caller that did not wait for the end.
func gaveUp(c media.Code) bool {
	return c == media.CodeCancelled || c == media.CodeDeadline || c == media.CodeOverBudget
}

// goesOn reports whether a slot can be had without a call that may have been paid already.
func (s *Saved) goesOn(index int) bool {
	last := s.last(index)
	switch {
	case last.ID == "":
		return true // nobody was called
	case last.Task != (Handle{}):
		return last.FinishedAt.IsZero() || last.Error != nil && gaveUp(last.Error.Code)
	default:
		return last.Error != nil && last.Error.Retryable && !last.billed()
	}
}

// last is the newest attempt at a slot.
func (s *Saved) last(index int) (last Attempt) {
	for _, a := range s.Attempts {
		if slices.Contains(a.Slots, index) && (a.Call > last.Call || a.Call == last.Call && a.Number >= last.Number) {
			last = a
		}
	}
	return last
}

// reopenCut makes an operation that was cut off one that can be gone on with; nil if it
// cannot: it was asked again in parts, or several models worked on it. The caller holds it.
func (g *Gateway) reopenCut(ctx context.Context, log Resumer, operation string) (*Saved, error) {
	saved, err := log.Saved(ctx, operation)
	if err != nil {
		return nil, err
	}
	slots := saved.cutOff()
	p, err := g.load(saved.Operation.Request)
	if err != nil || len(slots) == 0 || !p.alone(saved.Attempts) {
		return nil, err
	}
	p.round = nil
	before := g.newExecution(p, saved.Operation)
	before.remember(ctx, saved)
	counted := before.charge(saved.Operation.ID)
	p.round, p.frames = &round{First: 1, Slots: upTo(saved.Operation.N), Before: &counted}, p.frames || g.config.Partials
	op := g.queued(saved.Operation, p)
	if err := g.config.Budget.Reserve(media.WithScope(ctx, saved.Scope), p.outstanding(saved, slots)); err != nil {
		return nil, wrap("reserve money", err)
	}
	if err := saved.takeUp(ctx, g.config.Operations, slots); err != nil {
		_ = g.config.Budget.Settle(ctx, Charge{ID: op.ID}) // else it is given back later
		return nil, err
	}
	if err := log.Reopen(ctx, op, slots); err != nil {
		_ = g.config.Budget.Settle(ctx, Charge{ID: op.ID}) // else it is given back later
		return nil, wrap("take the operation up again", err)
	}
	return log.Saved(ctx, operation)
}

// alone reports whether the model of a plan made all attempts, and none of them in a round
// that a person asked for.
func (p *Plan) alone(attempts []Attempt) bool {
	if p.round != nil && p.round.Before == nil {
		return false
	}
	return !slices.ContainsFunc(attempts, func(a Attempt) bool {
		return a.Provider != p.Model.Provider || a.APIModel != p.Model.APIModel
	})
}

func upTo(n int) (all []int) {
	for i := range n {
		all = append(all, i+1)
	}
	return all
}

// outstanding is what slots may use from now on: tasks that were begun are paid for, and those
// that their provider may have billed are counted.
func (p *Plan) outstanding(saved *Saved, slots []int) Charge {
	c := Charge{ID: saved.Operation.ID}
	calls := 0
	for _, index := range slots {
		last := saved.last(index)
		if saved.Operation.Modality == media.ModalityImage && last.Usage.Unsettled == 0 {
			c.Images++
		}
		if last.Task == (Handle{}) {
			calls++
		}
	}
	free := "0"
	if c.USD = &free; calls > 0 {
		c.USD = p.estimate(calls)
	}
	return c
}

// takeUp makes the tasks of slots ones that are under way.
func (s *Saved) takeUp(ctx context.Context, log OperationLog, slots []int) error {
	done := map[string]bool{}
	for _, index := range slots {
		a := s.last(index)
		if a.Task == (Handle{}) || done[a.ID] {
			continue
		}
		done[a.ID] = true
		if err := log.Attempt(ctx, a.underWay()); err != nil {
			return wrap("take a task up again", err)
		}
	}
	return nil
}

// underWay is an attempt that was over as one whose task goes on.
func (a Attempt) underWay() Attempt {
	a.Status, a.Error, a.Usage, a.FinishedAt = StatusRunning, nil, Usage{}, time.Time{}
	return a
}

// without is what is left of a charge when what was counted before is taken away.
func (c Charge) without(before Charge) Charge {
	c.Images = max(0, c.Images-before.Images)
	if c.USD == nil || before.USD == nil {
		return c
	}
	now, known := dollars(*c.USD)
	was, knew := dollars(*before.USD)
	if !known || !knew {
		return c
	}
	left := new(big.Rat).Sub(now, was)
	if left.Sign() < 0 {
		left = new(big.Rat)
	}
	text := decimal(left)
	c.USD = &text
	return c
}
