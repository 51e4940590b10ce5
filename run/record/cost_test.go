package record_test

import (
	"encoding/json"
	"testing"

	"atelier/agent"
	"atelier/generate"
	"atelier/ledger"
	"atelier/run/record"
)

// TestWithGeneration: a failed generation is free unless something indicates that it was billed.
func TestWithGeneration(t *testing.T) {
	t.Parallel()
	usd := func(s string) *string { return &s }
	for name, c := range map[string]struct {
		status          generate.Status
		reported, known *string
		usage           generate.Usage
		estimated       string // empty for none
		complete        bool
	}{
		"succeeded, estimated":         {generate.StatusSucceeded, nil, usd("0.04"), generate.Usage{Images: 1}, "0.04", true},
		"succeeded, reported":          {generate.StatusSucceeded, usd("0.03"), usd("0.04"), generate.Usage{Images: 1}, "0.03", true},
		"succeeded, no price":          {generate.StatusSucceeded, nil, nil, generate.Usage{Images: 1}, "", false},
		"failed":                       {generate.StatusFailed, nil, usd("0.04"), generate.Usage{}, "", true},
		"failed, but reported":         {generate.StatusFailed, usd("0.04"), usd("0.04"), generate.Usage{}, "0.04", true},
		"failed with pictures":         {generate.StatusFailed, nil, usd("0.04"), generate.Usage{Images: 1}, "0.04", true},
		"failed without a response":    {generate.StatusFailed, nil, usd("0.04"), generate.Usage{Unsettled: 1}, "0.04", false},
		"cancelled without a response": {generate.StatusCancelled, nil, usd("0.04"), generate.Usage{Unsettled: 1}, "0.04", false},
	} {
		usage, err := json.Marshal(c.usage)
		if err != nil {
			t.Fatal(err)
		}
		got := record.WithGeneration(agent.Cost{Complete: true}, ledger.Operation{Status: string(c.status), ReportedUSD: c.reported, EstimatedUSD: c.known, Usage: usage})
		sum := ""
		if got.EstimatedUSD != nil {
			sum = *got.EstimatedUSD
		}
		if sum != c.estimated || got.Complete != c.complete || (got.ReportedUSD == nil) != (c.reported == nil) {
			t.Errorf("%s: %q, complete %v, reported %v", name, sum, got.Complete, got.ReportedUSD)
		}
	}
}
