package main

import (
	"strings"
	"testing"

	"atelier/ledger"
)

// TestCostInWords: what was reported, what was estimated, and what nobody knows.
func TestCostInWords(t *testing.T) {
	t.Parallel()
	usd := func(s string) *string { return &s }
	for want, c := range map[string]ledger.Cost{
		"unknown":          {},
		"$0":               {EstimatedUSD: usd("0"), Complete: true},
		"$0.2 (estimated)": {EstimatedUSD: usd("0.2"), Complete: true},
		"$0.1 (reported)":  {EstimatedUSD: usd("0.1"), ReportedUSD: usd("0.1"), Complete: true},
		"$0.3 ($0.1 reported, the rest estimated)":         {EstimatedUSD: usd("0.3"), ReportedUSD: usd("0.1"), Complete: true},
		"about $0.0041 (estimated)":                        {EstimatedUSD: usd("0.0041125"), Complete: true},
		"about $0.13 ($0.08 reported, the rest estimated)": {EstimatedUSD: usd("0.1331"), ReportedUSD: usd("0.08"), Complete: true},
		"about $12 (estimated)":                            {EstimatedUSD: usd("12.345"), Complete: true},
		"$0.0041125 (reported)":                            {EstimatedUSD: usd("0.0041125"), ReportedUSD: usd("0.0041125"), Complete: true},
		"at least $0.2 (estimated)":                        {EstimatedUSD: usd("0.2")},
	} {
		if got := spent(c); got != want {
			t.Errorf("%+v is shown as %q, want %q", c, got, want)
		}
	}
}

// TestCostOfARunThatMadeNoCall: it is known to be nothing.
func TestCostOfARunThatMadeNoCall(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	p.env["ATELIER_BLOCKED_TERMS"] = "geheim"
	o := p.atelier("run", "sage", "geheim")
	if o.code == exitOK || !strings.Contains(o.stderr, "cost $0\n") || len(s.chat.Requests()) != 0 {
		t.Errorf("exit %d: %s", o.code, o.stderr)
	}
	if run := p.onlyRun(); run.Status != "failed" || run.Cost.EstimatedUSD == nil || *run.Cost.EstimatedUSD != "0" {
		t.Errorf("row %+v", run)
	}
}
