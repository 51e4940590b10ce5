package main

import (
	"time"

	"atelier/ledger"
	"atelier/media"
	"atelier/run"
)

// limitFlags are the limits of a run.
type limitFlags struct {
	MaxTurns    int           `help:"The maximum number of turns of each agent. It cannot exceed the limit in its definition." placeholder:"N"`
	MaxTokens   int64         `help:"The maximum number of tokens of the whole run, including sub-agents. Then the agents are asked to finish." placeholder:"N"`
	Timeout     time.Duration `help:"The time limit of the whole run, including sub-agents, generations and waiting. Then the run ends and keeps what it made." placeholder:"DURATION"`
	MaxTime     time.Duration `help:"The maximum working time, such as 90s or 10m, including sub-agents but not waiting for a person. Then the agents are asked to finish." placeholder:"D"`
	MaxImages   *int64        `help:"The maximum number of pictures that models make for the run. A request that would exceed it is refused." placeholder:"N"`
	MaxCost     string        `help:"The maximum cost of the run's model calls and pictures, in US dollars." placeholder:"USD"`
	ApproveOver string        `help:"Ask for approval before every action that costs more than this many US dollars or has no known price. The run pauses; atelier resume continues it." placeholder:"USD"`
}

// limits returns the limits that the flags set. What the run has used already counts.
func (c *limitFlags) limits() (a run.ContinueOptions, err error) {
	if c.MaxTurns < 0 || c.MaxTokens < 0 || c.MaxTime < 0 || c.Timeout < 0 {
		return a, media.Errorf(media.CodeInvalid, "--max-turns, --max-tokens, --max-time and --timeout must not be negative; omit them for no limit")
	}
	a = run.ContinueOptions{MaxTurns: c.MaxTurns, MaxTokens: c.MaxTokens, MaxTime: c.MaxTime, ApproveOver: c.ApproveOver}
	if c.MaxImages != nil {
		if a.MaxImages = *c.MaxImages; a.MaxImages < 1 {
			return a, media.Errorf(media.CodeInvalid, "--max-images is %d: give 1 or more, or omit it for no limit", a.MaxImages)
		}
	}
	if c.Timeout > 0 {
		a.Deadline = time.Now().Add(c.Timeout) //nolint:forbidigo // the clock of the command line
	}
	a.MaxCost, err = ledger.ParseDollars("--max-cost", c.MaxCost)
	return a, err
}
