package main

import (
	"time"

	"atelier/agent"
	"atelier/ledger"
	"atelier/media"
	"atelier/run"
)

// limitFlags are what a run may use.
type limitFlags struct {
	MaxTurns    int           `help:"Most turns of each agent; never more than its definition allows." placeholder:"N"`
	MaxTokens   int64         `help:"Most tokens of the whole run, sub-agents included; then the agents are told to finish." placeholder:"N"`
	Timeout     time.Duration `help:"How long the whole run may take, sub-agents and generations included; then it ends with what it made. The clock goes on while nobody works on the run." placeholder:"DURATION"`
	MaxTime     time.Duration `help:"For how long the run may work, as 90s or 10m, sub-agents included and waiting for a person not; then the agents are told to finish." placeholder:"D"`
	MaxImages   *int64        `help:"Most pictures that models may make for the run; a request for more than are left is refused." placeholder:"N"`
	MaxCost     string        `help:"Most that model calls and pictures of the run may cost, in US dollars." placeholder:"USD"`
	ApproveOver string        `help:"Ask before every action that would cost more than this many US dollars, or whose price is not known: the run pauses and is gone on with by resume." placeholder:"USD"`
}

// limits are what the flags allow a run; what was used before counts.
func (c *limitFlags) limits() (a run.Again, err error) {
	if c.MaxTurns < 0 || c.MaxTokens < 0 || c.MaxTime < 0 {
		return a, media.Errorf(media.CodeInvalid, "--max-turns, --max-tokens and --max-time must not be negative; leave them out for no limit")
	}
	if c.Timeout < 0 {
		return a, media.Errorf(media.CodeInvalid, "--timeout must not be negative; leave it out for no limit")
	}
	a = run.Again{MaxTurns: c.MaxTurns, MaxTokens: c.MaxTokens, MaxTime: c.MaxTime, ApproveOver: c.ApproveOver}
	if c.MaxImages != nil {
		if a.MaxImages = *c.MaxImages; a.MaxImages < 1 {
			return a, media.Errorf(media.CodeInvalid, "--max-images is %d: give 1 or more; leave it out for no limit", a.MaxImages)
		}
	}
	if c.Timeout > 0 {
		a.Deadline = time.Now().Add(c.Timeout) //nolint:forbidigo // the clock of the person who asks
	}
	a.MaxCost, err = ledger.ParseDollars("--max-cost", c.MaxCost)
	return a, err
}

// requestWithin is a request with limits.
func requestWithin(a run.Again) agent.Request {
	return agent.Request{
		MaxTurns: a.MaxTurns, MaxTokens: a.MaxTokens, MaxTime: a.MaxTime, MaxImages: a.MaxImages, MaxCost: a.MaxCost,
		Deadline: a.Deadline, ApproveOver: a.ApproveOver, LostImages: a.LostImages,
	}
}
