package apitest

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"atelier/api"
	"atelier/media"
)

func reported(t *testing.T, s Service) {
	t.Helper()
	ctx := t.Context()
	table := must(s.StoreMedia(ctx, strings.NewReader("region,sales\nNorth,120\nSouth,340\nWest,95\n"), api.Upload{FileName: "sales.csv"}))(t)
	first := began(t, s, api.NewRun{Agent: "research-agent", Message: "Which region had the highest sales?", ConversationID: "new", Files: []api.RunFile{{MediaID: table.ID}}})
	if first.Status != "running" || first.ConversationID == "" {
		t.Fatalf("%+v", first)
	}
	all := followed(t, s, first.ID, first.ID, 0)
	if e := all[0]; e.Kind != "run-started" || e.RunID != first.ID || e.Tree != first.ID || e.ConversationID != first.ConversationID || e.At.IsZero() || len(e.Data) == 0 {
		t.Errorf("%+v", e)
	}
	if e := all[len(all)-1]; e.Kind != "run-succeeded" {
		t.Errorf("%+v", e)
	}
	r := ended(t, s, first.ID)
	if r.Status != "succeeded" || !strings.Contains(r.Answer, "South") || !r.Report || r.EndedAt == nil || r.Tokens.ModelCalls == 0 || len(r.Media) == 0 {
		t.Errorf("%+v", r)
	}
	if p := string(r.Payload); !strings.Contains(p, "/media/") || strings.Contains(p, "${media:") {
		t.Errorf("payload %s", p)
	}
	var page bytes.Buffer
	if err := s.WriteReport(ctx, first.ID, nil, &page); err != nil || !strings.Contains(page.String(), "South") || !strings.HasSuffix(strings.TrimSpace(page.String()), "</html>") {
		t.Errorf("%d bytes of report: %v", page.Len(), err)
	}
	c := answerOf(t, s, first.ConversationID)
	if len(c.Messages) != 2 || len(c.Messages[0].Attachments) != 1 || c.Messages[0].Attachments[0].ID != table.ID {
		t.Errorf("%+v", c)
	}
	if l := must(s.ListRuns(ctx, api.RunQuery{Status: "succeeded", Agent: "research-agent"}))(t); len(l.Items) != 1 || l.Items[0].ID != first.ID {
		t.Errorf("%+v", l)
	}
}

func once(t *testing.T, s Service) {
	t.Helper()
	ask := api.NewRun{Agent: "sage", Message: "Draw a lighthouse, 128x128"}
	const id = "0198a000-0000-7000-8000-00000000000a"
	a, b := must(s.StartRun(t.Context(), id, ask))(t), must(s.StartRun(t.Context(), id, ask))(t)
	if a.ID == "" || a.ID != b.ID {
		t.Errorf("%+v, then %+v", a, b)
	}
	if other := began(t, s, ask); other.ID == a.ID {
		t.Errorf("another one is %+v", other)
	} else {
		ended(t, s, other.ID)
	}
	ended(t, s, a.ID)
}

func forked(t *testing.T, s Service) {
	t.Helper()
	ctx := t.Context()
	id := began(t, s, api.NewRun{Agent: "sage", Message: "Draw a lighthouse, 128x128", Limits: &api.Limits{MaxTurns: 5}}).ID
	ended(t, s, id)
	steps := must(s.ListSteps(ctx, id))(t)
	calls := must(s.ListModelCalls(ctx, api.TraceQuery{ID: id, Page: api.Page{Limit: 1}}))(t)
	acts := must(s.ListActs(ctx, api.TraceQuery{ID: id}))(t)
	if seen := must(s.Sight(ctx, id))(t); seen.Agent != "sage" || len(seen.Given) != 0 {
		t.Errorf("%+v", seen)
	}
	if len(steps) == 0 || len(calls.Items) != 1 || calls.Next == "" || !strings.Contains(string(calls.Items[0].Messages), "lighthouse") || len(acts.Items) != 1 || acts.Items[0].Name != "Generate Image" {
		t.Fatalf("%+v %+v %+v", steps, calls, acts)
	}
	fork := must(s.ForkRun(ctx, "", id, api.Fork{Step: steps[0].Name, Message: "Draw a tree, 128x128"}))(t)
	if r := ended(t, s, fork.ID); fork.ID == id || r.Status != "succeeded" || r.ForkedFrom != id || r.Message != "Draw a tree, 128x128" {
		t.Errorf("%+v", r)
	}
}

// asked starts a run and returns it paused at an approval.
func asked(t *testing.T, s Service) api.Run {
	t.Helper()
	r := ended(t, s, began(t, s, api.NewRun{Agent: "sage", Message: "Draw a " + PausingTerm}).ID)
	if r.Status != "paused" || r.Question == nil || !r.Question.Approval || len(r.Question.Schema) == 0 {
		t.Fatalf("%+v", r)
	}
	return r
}

func answered(t *testing.T, s Service) {
	t.Helper()
	ctx, yes := t.Context(), true
	r := asked(t, s)
	_, err := s.AnswerRun(ctx, r.ID, api.Answer{Answer: []byte(`{"approve":7}`)})
	refused(t, "an answer of another shape", err, media.CodeInvalid)
	if got := must(s.AnswerRun(ctx, r.ID, api.Answer{Question: r.Question.ID, Approve: &yes}))(t); got.ID != r.ID || got.Status != "running" {
		t.Errorf("%+v", got)
	}
	if r := ended(t, s, r.ID); r.Status != "succeeded" {
		t.Errorf("%+v", r)
	}
	_, err = s.AnswerRun(ctx, r.ID, api.Answer{Approve: &yes})
	refused(t, "a second answer", err, media.CodeConflict)
}

func cancelled(t *testing.T, s Service) {
	t.Helper()
	ctx := t.Context()
	id := asked(t, s).ID
	must(s.CancelRun(ctx, id))(t)
	if r := ended(t, s, id); r.Status != "cancelled" {
		t.Errorf("%+v", r)
	}
	if again := must(s.RetryRun(ctx, id))(t); again.ID != id {
		t.Errorf("%+v", again)
	}
	ended(t, s, id)
}

func conversations(t *testing.T, s Service) {
	t.Helper()
	ctx := t.Context()
	first := began(t, s, api.NewRun{Agent: "sage", Message: "Draw a lighthouse, 128x128", ConversationID: "new"})
	ended(t, s, first.ID)
	id := first.ConversationID
	answerOf(t, s, id)
	if h := must(s.RenameConversation(ctx, id, "The harbour"))(t); h.Title != "The harbour" || h.RunCount != 1 {
		t.Errorf("%+v", h)
	}
	if l := must(s.ListConversations(ctx, api.ConversationQuery{Q: "harbour"}))(t); len(l.Items) != 1 || l.Items[0].ID != id {
		t.Errorf("%+v", l)
	}
	must(s.DeleteConversation(ctx, id))(t)
	_, err := s.Conversation(ctx, id)
	refused(t, "deleted", err, media.CodeNotFound)
	must(s.RestoreConversation(ctx, id))(t)
	c := must(s.Conversation(ctx, id))(t)
	if len(c.Messages) != 2 || c.Messages[1].Role != "assistant" {
		t.Fatalf("%+v", c)
	}
	fork := must(s.ForkConversation(ctx, id, api.ForkConversation{After: c.Messages[1].ID}))(t)
	other := must(s.Conversation(ctx, fork.ID))(t)
	if fork.ID == id || len(other.Messages) != 2 {
		t.Fatalf("%+v", other)
	}
	for i, m := range other.Messages {
		if m.Text != c.Messages[i].Text || !m.CreatedAt.Equal(c.Messages[i].CreatedAt) {
			t.Errorf("%+v, want %+v", m, c.Messages[i])
		}
	}
	// An answer that ends while its conversation is deleted is present after the conversation is restored.
	gone := began(t, s, api.NewRun{Agent: "sage", Message: "Draw a boat, 128x128", ConversationID: "new"})
	must(s.DeleteConversation(ctx, gone.ConversationID))(t)
	ended(t, s, gone.ID)
	wait(ctx)
	must(s.RestoreConversation(ctx, gone.ConversationID))(t)
	answerOf(t, s, gone.ConversationID)
}

func generations(t *testing.T, s Service) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	seed := int64(7)
	ask := api.NewGeneration{Prompt: "a lighthouse", Size: "256x256", Seed: &seed, N: 2}
	if p := must(s.PlanGeneration(ctx, ask))(t); p.Makes != 2 || p.Model == "" {
		t.Errorf("%+v", p)
	}
	_, err := s.PlanGeneration(ctx, api.NewGeneration{Prompt: "x", Model: "nothing-1"})
	refused(t, "an unknown model", err, media.CodeInvalid)
	const key = "generation-of-the-suite"
	g, again := must(s.StartGeneration(ctx, key, ask))(t), must(s.StartGeneration(ctx, key, ask))(t)
	if g.ID == "" || g.ID != again.ID {
		t.Fatalf("%+v, then %+v", g, again)
	}
	for g.FinishedAt == nil && ctx.Err() == nil {
		wait(ctx)
		g = must(s.Generation(ctx, g.ID))(t)
	}
	if g.Status != "succeeded" || len(g.Slots) != 2 || g.Slots[0].Media == nil || g.Slots[0].Media.Width != 256 {
		t.Errorf("%+v", g)
	}
	if l := must(s.ListGenerations(ctx, api.GenerationQuery{Status: "succeeded"}))(t); len(l.Items) != 1 || l.Items[0].ID != g.ID {
		t.Errorf("%+v", l)
	}
}

func resumed(t *testing.T, s Service) {
	t.Helper()
	id := began(t, s, api.NewRun{Agent: "sage", Message: "Draw a lighthouse, 128x128"}).ID
	all := ids(followed(t, s, id, id, 0))
	if len(all) < 5 || !slices.IsSorted(all) || len(slices.Compact(slices.Clone(all))) != len(all) {
		t.Fatalf("%v", all)
	}
	middle := len(all) / 2
	for _, of := range []string{id, ""} {
		if rest := ids(followed(t, s, of, id, all[middle])); !slices.Equal(rest, all[middle+1:]) {
			t.Errorf("behind %d: %v of %v", all[middle], rest, all)
		}
	}
	fromNow(t, s, all[len(all)-1])
}

// fromNow checks that Follow with a negative position returns no event up to the position last.
func fromNow(t *testing.T, s Service, last int64) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	runs, first := make(chan api.Event, 1), make(chan error, 1)
	go func() {
		for e, err := range s.Follow(ctx, "", -1) {
			if err != nil {
				first <- err
				return
			}
			if e.ID > 0 {
				runs <- e
				return
			}
		}
	}()
	tick := time.NewTicker(200 * time.Millisecond) // the subscription may start late: an event must happen after it
	defer tick.Stop()
	for {
		select {
		case e := <-runs:
			if e.ID <= last {
				t.Errorf("%+v is not new", e)
			}
			return
		case err := <-first:
			t.Fatal(err)
		case <-tick.C:
			ended(t, s, began(t, s, api.NewRun{Agent: "sage", Message: "Draw a tree, 128x128"}).ID)
		}
	}
}

func ids(all []api.Event) (out []int64) {
	for _, e := range all {
		if e.ID > 0 {
			out = append(out, e.ID)
		}
	}
	return out
}
