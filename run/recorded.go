package run

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"

	"atelier/action"
	"atelier/agent"
	"atelier/journal/step"
	"atelier/ledger"
	"atelier/media"
)

// recorder is a runner that can make a result of what is on record; *agent.Runner is one.
type recorder interface {
	Recorded(ctx context.Context, p agent.Past) *agent.Result
}

// Result reads what became of a run from the ledger, however long ago and wherever it ran:
// what [Service.Run] gave, but that a run that goes on or waits is shown as it stands. Any
// run of its tree names it. Nothing is done or asked. Input and history of a run without a
// durable engine are not kept: its report counts what only they hold as unsupported.
// Errors: media.CodeNotFound for an unknown run or somebody else's, media.CodeUnsupported
// where Config.Agents is no *agent.Runner.
func (s *Service) Result(ctx context.Context, owner, runID string) (*agent.Result, error) {
	runner, ok := s.cfg.Agents.(recorder)
	if !ok {
		return nil, media.Errorf(media.CodeUnsupported, "read the result of run %s: run.Config.Agents is no *agent.Runner", runID)
	}
	row, err := s.cfg.Ledger.Run(ctx, owner, runID)
	if err == nil && row.Tree != row.ID {
		row, err = s.cfg.Ledger.Run(ctx, owner, row.Tree)
	}
	if err != nil {
		return nil, err
	}
	return s.recorded(ctx, runner, row)
}

func (s *Service) recorded(ctx context.Context, runner recorder, row ledger.Run) (*agent.Result, error) {
	p := agent.Past{Run: recordOf(row)}
	known, err := s.asked(ctx, row, &p)
	if err != nil {
		return nil, err
	}
	tree, err := all(func(page ledger.Page) (ledger.List[ledger.Run], error) {
		return s.cfg.Ledger.ListRuns(ctx, row.Owner, ledger.RunQuery{Tree: row.ID, Page: page})
	})
	if err != nil {
		return nil, err
	}
	paths := map[string]string{}
	for _, r := range tree {
		paths[r.ID] = r.AgentPath
	}
	if p.Steps, err = s.stepsOf(ctx, row.Owner, row.ID, paths); err != nil {
		return nil, err
	}
	if p.Items, err = s.itemsOf(ctx, row.Owner, paths); err != nil {
		return nil, err
	}
	if p.Models, err = s.modelsOf(ctx, row.Owner, paths); err != nil {
		return nil, err
	}
	if p.Run.Promoted, err = s.promoted(ctx, row, p.Items); err != nil {
		return nil, err
	}
	res := runner.Recorded(ctx, p)
	if known.Thread != nil {
		res.Conversation = known.Thread.ID
	}
	return res, nil
}

// asked reads what a run was asked beside its task, and what people answered.
func (s *Service) asked(ctx context.Context, row ledger.Run, p *agent.Past) (past, error) {
	st, err := s.state(ctx, row)
	if err != nil {
		return past{}, err
	}
	known, err := s.past(row, st)
	if media.CodeOf(err) == media.CodeUnsupported { // its steps are not kept
		return past{}, nil
	}
	if err != nil {
		return known, err
	}
	p.Input, p.History, p.Journal = known.State.Request.Input, known.State.Request.History, known.steps
	if known.Thread != nil {
		p.History = known.Thread.History
	}
	var g gift
	if json.Unmarshal(known.steps[step.Name{Kind: step.KindGiven}.String()], &g) == nil {
		p.Run.Warnings = append(g.Warnings, p.Run.Warnings...)
	}
	return known, nil
}

// recordOf is a row as the agent saved it.
func recordOf(row ledger.Run) agent.RunRecord {
	r := agent.RunRecord{
		ID: row.ID, ParentID: row.Parent, Tree: row.Tree, Agent: row.Agent, AgentPath: row.AgentPath, Depth: row.Depth,
		DefinitionHash: row.DefinitionHash, Task: row.Task, Status: agent.Status(row.Status), Message: row.Message, Payload: row.Payload,
		Turns: int(row.Usage.Turns), Warnings: row.Warnings, Cost: agent.Cost(row.Cost), StartedAt: row.StartedAt, FinishedAt: row.FinishedAt,
		Usage: agent.Usage{
			ModelCalls: int(row.Usage.ModelCalls), InputTokens: row.Usage.InputTokens, OutputTokens: row.Usage.OutputTokens,
			Images: int(row.Usage.Images), WorkedMS: row.Usage.WorkedMS,
		},
	}
	for _, i := range row.InputImages {
		r.InputImages = append(r.InputImages, agent.InputImage(i))
	}
	_ = json.Unmarshal(row.Dispositions, &r.Dispositions) // a row of another shape has none to show
	if row.Failure != (ledger.Failure{}) {
		r.Error = &action.Problem{Code: media.Code(row.Failure.Code), Message: row.Failure.Message, Retryable: row.Failure.Retryable}
	}
	return r
}

// stepsOf lists the acts of a run and of its sub-agents in order of completion: those of a
// sub-agent before the act that called it.
func (s *Service) stepsOf(ctx context.Context, owner, runID string, paths map[string]string) ([]agent.StepRecord, error) {
	rows, err := all(func(page ledger.Page) (ledger.List[ledger.Step], error) {
		return s.cfg.Ledger.ListSteps(ctx, owner, runID, page)
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(rows, func(a, b ledger.Step) int { return a.FinishedAt.Compare(b.FinishedAt) })
	var out []agent.StepRecord
	for _, r := range rows {
		if _, ok := paths[r.ChildRunID]; ok {
			below, err := s.stepsOf(ctx, owner, r.ChildRunID, paths)
			if err != nil {
				return nil, err
			}
			out = append(out, below...)
		}
		out = append(out, agent.StepRecord{
			ID: r.ID, RunID: r.RunID, AgentPath: paths[r.RunID], Turn: r.Turn, Index: r.Position, Kind: agent.StepKind(r.Kind), Name: r.Name,
			Status: agent.Status(r.Status), Code: r.Code, Message: r.Message, Params: r.Params, Outputs: r.Outputs,
			ChildRunID: r.ChildRunID, StartedAt: r.StartedAt, FinishedAt: r.FinishedAt,
		})
	}
	return out, nil
}

// itemsOf lists what the runs of a tree made or were given, each once, in the order in which
// it came. What was deleted since is left out.
func (s *Service) itemsOf(ctx context.Context, owner string, paths map[string]string) ([]media.Output, error) {
	var links []ledger.Link
	for _, id := range slices.Sorted(maps.Keys(paths)) {
		more, err := all(func(page ledger.Page) (ledger.List[ledger.Link], error) {
			return s.cfg.Ledger.ListPromptMedia(ctx, owner, id, page)
		})
		if err != nil {
			return nil, err
		}
		links = append(links, more...)
	}
	slices.SortStableFunc(links, func(a, b ledger.Link) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	var out []media.Output
	seen := map[media.Ref]bool{}
	for _, l := range links {
		r, err := s.cfg.Ledger.MediaRecord(ctx, owner, l.MediaID)
		if media.CodeOf(err) == media.CodeNotFound {
			continue
		}
		if err != nil {
			return nil, err
		}
		if seen[r.Ref] {
			continue
		}
		seen[r.Ref] = true
		r.Promoted = false
		r.Origin.Direction = cmp.Or(l.Direction, r.Origin.Direction)
		out = append(out, r.Output)
	}
	return out, nil
}

// promoted lists what a run chose, and marks it among its items.
func (s *Service) promoted(ctx context.Context, row ledger.Run, items []media.Output) ([]media.Output, error) {
	links, err := all(func(page ledger.Page) (ledger.List[ledger.Link], error) {
		return s.cfg.Ledger.ListAgentMedia(ctx, row.Owner, row.ID, page)
	})
	out := []media.Output{}
	for _, l := range links {
		i := slices.IndexFunc(items, func(o media.Output) bool { return o.ID == l.MediaID })
		if i < 0 {
			continue
		}
		o := &items[i]
		o.Promoted, o.Label, o.Description = true, cmp.Or(l.Label, o.Label), cmp.Or(l.Description, o.Description)
		out = append(out, *o)
	}
	return out, err
}

// modelsOf lists the chat models that answered in a tree, in order of first use.
func (s *Service) modelsOf(ctx context.Context, owner string, paths map[string]string) ([]string, error) {
	var calls []ledger.Prompt
	for _, id := range slices.Sorted(maps.Keys(paths)) {
		more, err := all(func(page ledger.Page) (ledger.List[ledger.Prompt], error) {
			return s.cfg.Ledger.ListPrompts(ctx, owner, id, page)
		})
		if err != nil {
			return nil, err
		}
		calls = append(calls, more...)
	}
	slices.SortStableFunc(calls, func(a, b ledger.Prompt) int { return a.StartedAt.Compare(b.StartedAt) })
	var out []string
	for _, c := range calls {
		if c.Status == ledger.StatusSucceeded && !slices.Contains(out, c.Model) {
			out = append(out, c.Model)
		}
	}
	return out, nil
}

// all reads a list to its end.
func all[T any](page func(ledger.Page) (ledger.List[T], error)) ([]T, error) {
	var out []T
	at := ledger.Page{Limit: ledger.MaxLimit}
	for {
		list, err := page(at)
		if err != nil {
			return nil, err
		}
		out = append(out, list.Items...)
		if at.After = list.Next; at.After == "" {
			return out, nil
		}
	}
}
