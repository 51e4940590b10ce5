package run

import (
	"cmp"
	"time"

	"atelier/agent"
	"atelier/agent/vision"
)

// ContinueOptions contains the changes with which a run is continued. Zero fields keep the run's values.
type ContinueOptions struct {
	// LostImages replaces the request's value.
	LostImages vision.LostImages `json:"lost_images,omitempty"`
	// MaxTurns, MaxTokens, MaxTime, MaxImages and MaxCost are limits as in agent.Request. They include earlier usage:
	// raise a limit that the run has reached.
	MaxTurns  int           `json:"max_turns,omitempty"`
	MaxTokens int64         `json:"max_tokens,omitempty"`
	MaxTime   time.Duration `json:"max_time_ns,omitempty"`
	MaxImages int64         `json:"max_images,omitempty"`
	MaxCost   string        `json:"max_cost,omitempty"`
	// Deadline is when the run ends, as in agent.Request. A retry or fork ignores a deadline of the run that has
	// passed; an answer requires a new one.
	Deadline time.Time `json:"deadline,omitzero"`
	// ApproveOver requires approval of expensive actions, as in agent.Request. Earlier approvals and results are kept.
	ApproveOver string `json:"approve_over,omitempty"`
}

// Apply applies the changes to a request.
func (a ContinueOptions) Apply(req *agent.Request) {
	req.LostImages = cmp.Or(a.LostImages, req.LostImages)
	req.MaxTurns, req.MaxTokens = cmp.Or(a.MaxTurns, req.MaxTurns), cmp.Or(a.MaxTokens, req.MaxTokens)
	req.MaxTime, req.MaxImages = cmp.Or(a.MaxTime, req.MaxTime), cmp.Or(a.MaxImages, req.MaxImages)
	req.MaxCost, req.ApproveOver = cmp.Or(a.MaxCost, req.MaxCost), cmp.Or(a.ApproveOver, req.ApproveOver)
	if !a.Deadline.IsZero() {
		req.Deadline = a.Deadline
	}
}

// dropExpiredDeadline removes a deadline that has passed.
func (p *recordedRun) dropExpiredDeadline(now time.Time) {
	if req := &p.State.Request; !req.Deadline.IsZero() && !req.Deadline.After(now) {
		req.Deadline = time.Time{}
	}
}
