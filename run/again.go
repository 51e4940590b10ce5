package run

import (
	"cmp"
	"time"

	"atelier/agent"
	"atelier/media"
)

// Again is what is different when a run goes on. Fields that are zero leave what the run had.
type Again struct {
	// LostImages goes in the place of the request's.
	LostImages agent.LostImages `json:"lost_images,omitempty"`
	// MaxTurns, MaxTokens, MaxTime, MaxImages and MaxCost are limits as in agent.Request,
	// which count what the run used before: one that a run came to is to be raised.
	MaxTurns  int           `json:"max_turns,omitempty"`
	MaxTokens int64         `json:"max_tokens,omitempty"`
	MaxTime   time.Duration `json:"max_time_ns,omitempty"`
	MaxImages int64         `json:"max_images,omitempty"`
	MaxCost   string        `json:"max_cost,omitempty"`
	// Deadline is when the run ends, as in agent.Request. One of the run that has passed
	// holds no more for a retry or a fork; an answer is not taken then without another one.
	Deadline time.Time `json:"deadline,omitzero"`
	// ApproveOver asks a person before dear actions, as in agent.Request; what was approved
	// or done stays.
	ApproveOver string `json:"approve_over,omitempty"`
}

// apply changes a request.
func (a Again) apply(req *agent.Request) {
	req.LostImages = cmp.Or(a.LostImages, req.LostImages)
	req.MaxTurns, req.MaxTokens = cmp.Or(a.MaxTurns, req.MaxTurns), cmp.Or(a.MaxTokens, req.MaxTokens)
	req.MaxTime, req.MaxImages = cmp.Or(a.MaxTime, req.MaxTime), cmp.Or(a.MaxImages, req.MaxImages)
	req.MaxCost, req.ApproveOver = cmp.Or(a.MaxCost, req.MaxCost), cmp.Or(a.ApproveOver, req.ApproveOver)
	if !a.Deadline.IsZero() {
		req.Deadline = a.Deadline
	}
}

// check refuses what the agents would not begin with, before anything is saved.
func check(agents Agents, req agent.Request) error {
	c, ok := agents.(checker)
	if !ok {
		return nil
	}
	return c.Check(req)
}

// inTime takes a deadline away that has passed: whoever tries again has the time for it.
func (p *past) inTime(now time.Time) {
	if req := &p.State.Request; !req.Deadline.IsZero() && !req.Deadline.After(now) {
		req.Deadline = time.Time{}
	}
}

// outOfTime is why an answer is not taken: the run would end before it could do anything.
func outOfTime(runID string, end time.Time) error {
	return media.Errorf(media.CodeConflict, "run %s had time until %s: answer it with more (--timeout), or end it with atelier runs cancel %[1]s", runID, end.UTC().Format(time.DateTime))
}

// unchangeable is why a run cannot be gone on with in another way.
func unchangeable(runID string) error {
	return media.Errorf(media.CodeUnsupported, "run %s goes on as it was begun: its limits can be changed when it is answered, tried again or forked (end it with atelier runs cancel %[1]s, then atelier runs retry %[1]s with other limits)", runID)
}
