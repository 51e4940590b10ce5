package main

import (
	"net/http/httptest"
	"strings"
	"testing"

	"atelier/chat/chattest"
	"atelier/ledger"
)

// TestCostInWords: the text says which part of a cost was reported, which was estimated, and whether a part is unknown.
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
		if got := costText(c); got != want {
			t.Errorf("%+v is shown as %q, want %q", c, got, want)
		}
	}
}

// TestCostOfARunThatMadeNoCall: its cost is known to be $0.
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

// TestPicturesOfChatModelsAreInTheCost: their tokens have a price, or the cost is incomplete, in text and in JSON.
func TestPicturesOfChatModelsAreInTheCost(t *testing.T) {
	t.Parallel()
	for model, c := range map[string]struct {
		base, key, path, words string
		complete               bool
	}{
		"gemini/gemini-3-pro-image": {"GEMINI_BASE_URL", "GEMINI_API_KEY", "", "cost about $0.14", true}, // 1,120 tokens at $120 a million
		"openai/painting":           {"OPENAI_BASE_URL", "OPENAI_API_KEY", "/v1", "cost at least $0.0", false},
	} {
		p := newTestEnv(t)
		sim := &chattest.Simulator{Picture: newCanary(t, 130, 83).raw, Answer: func(chattest.Request) string { return "A sea, as you wished." }}
		srv := httptest.NewServer(sim)
		t.Cleanup(srv.Close)
		p.env[c.base], p.env[c.key] = srv.URL+c.path, "key"
		p.env["ATELIER_CHAT_PROFILES"] = p.write("profiles.yaml", "models:\n  - {provider: openai, id: painting, supports_vision: true, image_output: true, input_usd: \"1\", output_usd: \"2\"}\n")
		if o := p.must("run", "sage", "paint a sea", "--model", model); !strings.Contains(o.stderr, c.words) {
			t.Errorf("%s, in words: %s", model, o.stderr)
		}
		ran := read[answer](p, "run", "sage", "paint a sea", "--model", model, "--json")
		if cost := ran.Cost; cost.Complete != c.complete || cost.EstimatedUSD == nil {
			t.Errorf("%s, in JSON: %+v", model, ran.Cost)
		}
		if run := p.must("runs", "show", ran.RunID); !strings.Contains(run.stdout, strings.TrimPrefix(c.words, "cost ")) {
			t.Errorf("%s, later: %s", model, run.stdout)
		}
	}
}
