// Package apitest is the conformance test suite of the services of package api, in the same process or over HTTP. [Run]
// has one subtest for each clause of their contracts. The suite requires only offline models. The package may import
// api and media.
package apitest

import (
	"context"
	"testing"
	"time"

	"atelier/api"
	"atelier/media"
)

// Service combines all services of a server.
type Service struct {
	api.HealthService
	api.CatalogService
	api.MediaService
	api.ArchiveService
	api.RunService
	api.TraceService
	api.ConversationService
	api.GenerationService
	api.BudgetService
	api.EventService
	api.WorkflowService
	api.WorkflowRunService
	api.InteractionService
	api.SubActionService
}

// PausingTerm is the word for which the guardrail of a tested Service requires approval.
const PausingTerm = "submarine"

// Run tests a Service. open returns an empty Service whose guardrail pauses at [PausingTerm].
func Run(t *testing.T, open func(t *testing.T) Service) {
	t.Helper()
	for name, clause := range map[string]func(*testing.T, Service){
		"the catalogue":                       catalogue,
		"media are stored and read":           stored,
		"media are listed and changed":        changed,
		"what is not media is refused":        notMedia,
		"media as one file":                   archived,
		"a file becomes a report":             reported,
		"a run is begun once":                 once,
		"a run is traced and forked":          forked,
		"a question is answered":              answered,
		"a run is cancelled and tried again":  cancelled,
		"conversations":                       conversations,
		"generations":                         generations,
		"events are resumed":                  resumed,
		"workflows are checked":               workflows,
		"a workflow is run":                   workflowRuns,
		"pictures are made and one is chosen": subActions,
		"what there is not":                   unknown,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clause(t, open(t))
		})
	}
}

// must returns a function that returns v, or fails the test if err is not nil.
func must[T any](v T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// refused checks that an error has a code.
func refused(t *testing.T, what string, err error, code media.Code) {
	t.Helper()
	if media.CodeOf(err) != code {
		t.Errorf("%s: %v (%s), want %s", what, err, media.CodeOf(err), code)
	}
}

// began starts a run.
func began(t *testing.T, s Service, r api.NewRun) api.Started {
	t.Helper()
	return must(s.StartRun(t.Context(), "", r))(t)
}

// patience is the time limit of each wait; busy machines are slow.
const patience = 2 * time.Minute

// ended waits until a run ends or pauses.
func ended(t *testing.T, s Service, id string) api.Run {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	for ctx.Err() == nil {
		if r := must(s.Run(ctx, id))(t); r.Status != "running" {
			return r
		}
		wait(ctx)
	}
	t.Fatalf("run %s has not ended", id)
	return api.Run{}
}

// answerOf waits for the answer of a conversation's first run. The answer is saved after the run ends.
func answerOf(t *testing.T, s Service, id string) api.Conversation {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	for ctx.Err() == nil {
		if c := must(s.Conversation(ctx, id))(t); len(c.Messages) > 1 {
			return c
		}
		wait(ctx)
	}
	t.Fatalf("conversation %s has no answer", id)
	return api.Conversation{}
}

func wait(ctx context.Context) {
	select {
	case <-time.After(10 * time.Millisecond):
	case <-ctx.Done():
	}
}

// followed returns the events after a position, up to the end of a run.
func followed(t *testing.T, s Service, of, run string, after int64) (all []api.Event) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	for e, err := range s.Follow(ctx, of, after) {
		if err != nil {
			t.Fatalf("behind %d: %v", after, err)
		}
		all = append(all, e)
		if e.Ends(run) {
			break
		}
	}
	return all
}

func catalogue(t *testing.T, s Service) {
	t.Helper()
	ctx := t.Context()
	if err := s.Ready(ctx); err != nil {
		t.Error(err)
	}
	if h := must(s.Health(ctx))(t); !h.Offline || len(h.Notes) == 0 {
		t.Errorf("%+v", h)
	}
	agents := must(s.Agents(ctx))(t)
	if len(agents) < 5 || agents[1].Slug != "sage" && agents[0].Slug != "sage" || !agents[0].Ready {
		t.Errorf("%+v", agents)
	}
	chat, models, providers := must(s.ChatModels(ctx))(t), must(s.Models(ctx))(t), must(s.Providers(ctx))(t)
	if len(chat) == 0 || !chat[0].Ready || len(models) == 0 || !models[0].Default || len(providers) < 5 {
		t.Errorf("%+v %+v %+v", chat, models, providers)
	}
	if budgets, err := s.ListBudgets(ctx); err != nil || len(budgets) != 0 {
		t.Errorf("%+v, %v", budgets, err)
	}
}

func unknown(t *testing.T, s Service) {
	t.Helper()
	const id = "0198a000-0000-7000-8000-000000000000"
	ctx := t.Context()
	yes := true
	for what, do := range map[string]func() error{
		"sub-action":              func() error { _, err := s.SubAction(ctx, id); return err },
		"sub-action's stream":     func() error { _, err := events(s, id, 0); return err },
		"sub-action's cancel":     func() error { _, err := s.CancelSubAction(ctx, id); return err },
		"sub-action's retry":      func() error { _, err := s.RetrySubAction(ctx, id, api.SubActionRetry{}); return err },
		"sub-actions":             func() error { _, err := s.ListSubActions(ctx, id, api.Page{}); return err },
		"run":                     func() error { _, err := s.Run(ctx, id); return err },
		"answer":                  func() error { _, err := s.AnswerRun(ctx, id, api.Answer{Approve: &yes}); return err },
		"cancel":                  func() error { _, err := s.CancelRun(ctx, id); return err },
		"retry":                   func() error { _, err := s.RetryRun(ctx, id); return err },
		"fork":                    func() error { _, err := s.ForkRun(ctx, "", id, api.Fork{}); return err },
		"report":                  func() error { return s.WriteReport(ctx, id, nil, t.Output()) },
		"steps":                   func() error { _, err := s.ListSteps(ctx, id); return err },
		"model calls":             func() error { _, err := s.ListModelCalls(ctx, api.TraceQuery{ID: id}); return err },
		"acts":                    func() error { _, err := s.ListActs(ctx, api.TraceQuery{ID: id}); return err },
		"events":                  func() error { return firstError(ctx, s, id) },
		"agent":                   func() error { _, err := s.StartRun(ctx, "", api.NewRun{Agent: "nobody", Message: "x"}); return err },
		"media":                   func() error { _, err := s.Media(ctx, id); return err },
		"bytes":                   func() error { _, err := s.OpenMedia(ctx, id, 0); return err },
		"label":                   func() error { _, err := s.LabelMedia(ctx, id, api.MediaChange{Label: new("x")}); return err },
		"delete":                  func() error { _, err := s.DeleteMedia(ctx, id); return err },
		"restore":                 func() error { _, err := s.RestoreMedia(ctx, id); return err },
		"conversation":            func() error { _, err := s.Conversation(ctx, id); return err },
		"title":                   func() error { _, err := s.RenameConversation(ctx, id, "x"); return err },
		"delete of conversation":  func() error { _, err := s.DeleteConversation(ctx, id); return err },
		"restore of conversation": func() error { _, err := s.RestoreConversation(ctx, id); return err },
		"generation":              func() error { _, err := s.Generation(ctx, id); return err },
		"retry of generation":     func() error { _, err := s.RetryGeneration(ctx, id, false); return err },
		"cancel of generation":    func() error { _, err := s.CancelGeneration(ctx, id); return err },
		"workflow":                func() error { _, err := s.Workflow(ctx, id); return err },
		"start of workflow": func() error {
			_, err := s.StartWorkflowRun(ctx, "", api.NewWorkflowRun{WorkflowID: "nothing"})
			return err
		},
		"workflow run":           func() error { _, err := s.WorkflowRun(ctx, id); return err },
		"cancel of workflow run": func() error { _, err := s.CancelWorkflowRun(ctx, id); return err },
		"fork of workflow run":   func() error { _, err := s.ForkWorkflowRun(ctx, "", id, api.WorkflowFork{}); return err },
		"interaction":            func() error { _, err := s.Interaction(ctx, id); return err },
		"answer of interaction": func() error {
			_, err := s.AnswerInteraction(ctx, id, api.InteractionAnswer{Approved: &yes})
			return err
		},
		"edit of interaction": func() error {
			_, err := s.PatchInteraction(ctx, id, 0, []api.PatchOperation{{Op: "remove", Path: "/a"}})
			return err
		},
		"id with a slash": func() error { _, err := s.Run(ctx, "a/b?c"); return err },
	} {
		refused(t, what, do(), media.CodeNotFound)
	}
	_, err := s.StartRun(ctx, "", api.NewRun{Agent: "nobody", Message: "x"})
	if e, ok := err.(*media.Error); !ok || len(e.Valid) == 0 || e.Message == "" { //nolint:errorlint // it is not wrapped
		t.Errorf("%#v", err)
	}
	if list := must(s.ListRuns(ctx, api.RunQuery{}))(t); len(list.Items) != 0 {
		t.Errorf("%+v", list)
	}
}

func firstError(ctx context.Context, s Service, run string) error {
	for _, err := range s.Follow(ctx, run, 0) {
		return err
	}
	return nil
}
