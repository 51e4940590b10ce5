package agent_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"atelier/agent"
	"atelier/chat"
	"atelier/journal"
	"atelier/media"
)

const lastTurnText = "This is your last turn"

// countLastTurns counts the requests whose last message announces the last turn.
func countLastTurns(w *testEnv) (n int) {
	for _, r := range w.script.allRequests() {
		if strings.Contains(lastMessage(r), lastTurnText) {
			n++
		}
	}
	return n
}

func TestBudgets(t *testing.T) {
	t.Parallel()
	// Every answer of the script takes 15 tokens.
	more := `{"message":"so far","payload":{"report_html":"<img src=\"${media:` + refOf(1) + `}\">"},"actions":[{"name":"Paint","params":{"Number":1}}]}`
	finish := func(r chat.Request) string {
		if strings.Contains(lastMessage(r), lastTurnText) {
			return `{"message":"finished","payload":{"report_html":"${media:` + refOf(1) + `}"},"done":true}`
		}
		return more
	}
	for name, tt := range map[string]struct {
		yaml   string
		max    agent.Request
		answer any
		code   media.Code
		turns  int
		says   string
	}{
		"turns, heeded":      {"turns: 3\n", agent.Request{}, finish, "", 3, "may take 3 turns"},
		"turns, not heeded":  {"turns: 3\n", agent.Request{}, more, media.CodeOverBudget, 3, "may take 3 turns"},
		"tokens, heeded":     {"tokens: 100\n", agent.Request{}, finish, "", 8, "used 105 tokens and may use 100"},
		"tokens, not heeded": {"tokens: 100\n", agent.Request{}, more, media.CodeOverBudget, 8, "used 105 tokens and may use 100"},
		"bad last answer": {"turns: 2\n", agent.Request{}, func(r chat.Request) string {
			if strings.Contains(lastMessage(r), lastTurnText) {
				return "No."
			}
			return more
		}, media.CodeOverBudget, 2, "may take 2 turns"},
		"turns of the caller":  {"turns: 9\n", agent.Request{MaxTurns: 2}, more, media.CodeOverBudget, 2, "may take 2 turns"},
		"caller raises none":   {"turns: 2\n", agent.Request{MaxTurns: 9}, more, media.CodeOverBudget, 2, "may take 2 turns"},
		"tokens of the caller": {"", agent.Request{MaxTokens: 20}, finish, "", 2, "the run used 15 tokens"},
		"what fits":            {"", agent.Request{MaxTokens: 60}, finish, "", 4, "the run used 45 tokens"},
		"one token less":       {"", agent.Request{MaxTokens: 59}, finish, "", 3, "the run used 30 tokens"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := build(t, setup{agents: map[string]string{"painter": painter + tt.yaml}, answers: map[string][]any{"painter": {tt.answer}}})
			tt.max.Agent, tt.max.Message = "painter", "paint"
			res, err := w.runner.Run(t.Context(), tt.max)
			if media.CodeOf(err) != tt.code || res.Turns != tt.turns {
				t.Fatalf("%v after %d turns, want %q after %d", err, res.Turns, tt.code, tt.turns)
			}
			if n := countLastTurns(w); n != 1 || !strings.Contains(lastMessage(lastRequest(w)), tt.says) {
				t.Errorf("announced %d times: %s", n, lastMessage(lastRequest(w)))
			}
			if !strings.Contains(strings.Join(res.Warnings, "\n"), tt.says) {
				t.Errorf("warnings %q", res.Warnings)
			}
			if len(res.Outputs) != 1 || !strings.Contains(string(res.Payload), "report_html") || res.Message == "" {
				t.Errorf("what was made is not kept: %+v", res)
			}
			if err != nil && (!strings.Contains(err.Error(), "what was made is kept") || res.Status != agent.StatusFailed) {
				t.Errorf("%s: %v", res.Status, err)
			}
			if painted := len(w.recorder.items); painted > tt.turns-1 {
				t.Errorf("%d acts ran: the last turn's too", painted)
			}
		})
	}
}

// TestSingleTurnIsNotAnnounced: an agent with only one turn is not asked to finish.
func TestSingleTurnIsNotAnnounced(t *testing.T) {
	t.Parallel()
	w := build(t, setup{agents: map[string]string{"painter": painter + "turns: 1\n"}, answers: map[string][]any{"painter": {`{"message":"ok","done":true}`}}})
	res, err := w.run(t, "x")
	if err != nil || countLastTurns(w) != 0 || len(res.Warnings) != 0 {
		t.Errorf("%v, announced %d times, %q", err, countLastTurns(w), res.Warnings)
	}
}

// TestSubAgentsHaveBudgetsOfTheirOwn: sub-agents do not use up a parent's tokens; one that is over budget returns what
// it has.
func TestSubAgentsHaveBudgetsOfTheirOwn(t *testing.T) {
	t.Parallel()
	w := build(t, setup{
		agents: map[string]string{
			"painter": "tokens: 100\nagents: [{slug: writer, payload_key: '.'}]\n",
			"writer":  "turns: 12\nactions: [Paint]\n",
		},
		answers: map[string][]any{
			"painter": {`{"agents":[{"name":"writer","task":"write"}]}`, func(r chat.Request) string {
				if message := lastMessage(r); !strings.Contains(message, "over_budget") || !strings.Contains(message, "half") {
					return "the message to the parent was " + message
				}
				return `{"message":"went on","done":true}`
			}},
			"writer": {`{"payload":{"report_html":"half"},"actions":[{"name":"Paint","params":{"Number":2}}]}`},
		},
	})
	res, err := w.run(t, "x")
	if err != nil || res.Message != "went on" || !strings.Contains(string(res.Payload), `"report_html":"half"`) || len(res.AlsoMade) != 1 {
		t.Errorf("%v, %s, %s", err, res.Message, res.Payload)
	}
	if res.Usage.InputTokens+res.Usage.OutputTokens != 14*15 {
		t.Errorf("usage %+v", res.Usage)
	}
}

// TestTokensOfTheWholeRun: a caller's limit counts all agents.
func TestTokensOfTheWholeRun(t *testing.T) {
	t.Parallel()
	w := build(t, setup{
		agents: map[string]string{"painter": "agents: [writer]\n", "writer": painter},
		answers: map[string][]any{
			"painter": {`{"agents":[{"name":"writer","task":"write"}]}`},
			"writer":  {paintStep(1)},
		},
	})
	res, err := w.runner.Run(t.Context(), agent.Request{Agent: "painter", Message: "x", MaxTokens: 75})
	if media.CodeOf(err) != media.CodeOverBudget || res.Usage.ModelCalls != 5 || len(res.AlsoMade) != 1 {
		t.Errorf("%v, %+v, %s", err, res.Usage, fmt.Sprint(res.Warnings))
	}
	if _, err := w.runner.Run(t.Context(), agent.Request{Agent: "painter", Message: "x", MaxTokens: -1}); media.CodeOf(err) != media.CodeInvalid {
		t.Errorf("a negative limit: %v", err)
	}
}

// TestNoSubAgentAfterTheLimit: a sub-agent does not begin once the tokens or the time of the run are used up; its parent
// is told and finishes. A replay decides the same, and a retry with more decides again.
func TestNoSubAgentAfterTheLimit(t *testing.T) {
	t.Parallel()
	asks := `{"agents":[{"name":"writer","task":"a"},{"name":"writer","task":"b"}]}`
	for name, req := range map[string]agent.Request{"tokens": {MaxTokens: 14}, "time": {MaxTime: 5 * time.Second}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req.Agent, req.Message, req.RunID = "painter", "x", fixedRun
			run := func(d journal.Journal) (*agent.Result, int) {
				c := newClock()
				told := func(r chat.Request) string {
					if m := lastMessage(r); strings.Count(m, "did not begin") != 4 || !strings.Contains(m, "This is your last turn") {
						t.Errorf("the parent is told %s", m)
					}
					return `{"message":"half","done":true}`
				}
				w := build(t, setup{
					agents:  map[string]string{"painter": "agents: [writer]\n", "writer": painter},
					answers: map[string][]any{"painter": {asks, told}, "writer": {`{"message":"fine","done":true}`}},
					now:     c.Now, journal: d,
				})
				w.script.before = sync.OnceFunc(func() { c.wait(5 * time.Second) })
				res, err := w.runner.Run(t.Context(), req)
				if err != nil || res.Message != "half" {
					t.Errorf("%+v, %v", res, err)
				}
				return res, len(w.script.allRequests())
			}
			d := newMemoryJournal()
			whole, calls := run(d)
			if calls != 2 || whole.Usage.ModelCalls != 2 {
				t.Errorf("%d calls, %+v", calls, whole.Usage)
			}
			if again, calls := run(d); calls != 0 || again.Usage.ModelCalls != 2 {
				t.Errorf("a replay made %d calls, %+v", calls, again.Usage)
			}
		})
	}
}
