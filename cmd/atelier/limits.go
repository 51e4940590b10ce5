package main

import (
	"time"

	"atelier/ledger"
	"atelier/media"
	"atelier/run"
)

// limitFlags are the limits of a run.
type limitFlags struct {
	MaxTurns    *int           `help:"The maximum number of turns of each agent. It cannot exceed the limit in its definition." placeholder:"N"`
	MaxTokens   *int64         `help:"The maximum number of tokens of the whole run, including sub-agents. Then the agents are asked to finish." placeholder:"N"`
	Timeout     *time.Duration `help:"The time limit of the whole run, including sub-agents, generations and waiting. Then the run ends and keeps what it made." placeholder:"DURATION"`
	MaxTime     *time.Duration `help:"The maximum working time, such as 90s or 10m, including sub-agents but not waiting for a person. Then the agents are asked to finish." placeholder:"D"`
	MaxImages   *int64         `help:"The maximum number of pictures that models make for the run. A request that would exceed it is refused." placeholder:"N"`
	MaxCost     string         `help:"The maximum cost of the run's model calls and pictures, in US dollars." placeholder:"USD"`
	ApproveOver string         `help:"Ask for approval before every action that costs more than this many US dollars or has no known price. The run pauses; atelier resume continues it." placeholder:"USD"`
}

// given sets a limit if the flag is given. It reports whether the flag is omitted or more than 0.
func given[T int | int64 | time.Duration](flag, limit *T) bool {
	if flag != nil {
		*limit = *flag
	}
	return flag == nil || *flag > 0
}

// limits returns the limits that the flags set. What the run has used already counts.
func (c *limitFlags) limits() (a run.ContinueOptions, err error) {
	a.ApproveOver = c.ApproveOver
	var timeout time.Duration
	if !given(c.MaxTurns, &a.MaxTurns) || !given(c.MaxTokens, &a.MaxTokens) || !given(c.MaxTime, &a.MaxTime) || !given(c.Timeout, &timeout) {
		return a, media.Errorf(media.CodeInvalid, "--max-turns, --max-tokens, --max-time and --timeout must be more than 0; omit them for no limit")
	}
	if !given(c.MaxImages, &a.MaxImages) {
		return a, media.Errorf(media.CodeInvalid, "--max-images is %d: give 1 or more, or omit it for no limit", a.MaxImages)
	}
	if timeout > 0 {
		a.Deadline = time.Now().Add(timeout) //nolint:forbidigo // the clock of the command line
	}
	a.MaxCost, err = ledger.ParseDollars("--max-cost", c.MaxCost)
	return a, err
}
