package run

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"

	"atelier/action"
	"atelier/agent"
	"atelier/ledger"
	"atelier/media"
)

// Result reads the result of a run from the ledger, at any time after it and in any process: the result of
// [Service.Run], or the current state of a run that is running or waiting. Any run of its tree identifies it. Result
// executes nothing. Without a durable engine, the input and history of a run are not stored: its report counts numbers
// that occur only there as unsupported. For an unknown run or another owner's, the error has code media.CodeNotFound.
func (s *Service) Result(ctx context.Context, owner, runID string) (*agent.Result, error) {
	row, st, err := s.history.root(ctx, owner, runID)
	if err != nil {
		return nil, err
	}
	return s.history.result(ctx, s.cfg.Agents, row, st)
}

func (h history) result(ctx context.Context, runner *agent.Runner, row ledger.Run, st ledger.RunState) (*agent.Result, error) {
	p := agent.Past{Run: recordOf(row)}
	known, err := h.readRecorded(row, st)
	switch {
	case media.CodeOf(err) == media.CodeUnsupported:
		known = recordedRun{} // its steps are not recorded
	case err != nil:
		return nil, err
	default:
		p.Input, p.History, p.Journal = known.State.Request.Input, known.State.Request.History, known.steps
		if known.Thread != nil {
			p.History = known.Thread.History
		}
	}
	tree, err := ledger.All(func(page ledger.Page) (ledger.List[ledger.Run], error) {
		return h.ledger.ListRuns(ctx, row.Owner, ledger.RunQuery{Tree: row.ID, Page: page})
	})
	if err != nil {
		return nil, err
	}
	paths := map[string]string{}
	for _, r := range tree {
		paths[r.ID] = r.AgentPath
	}
	if p.Steps, err = h.stepsOf(ctx, row.Owner, row.ID, paths); err != nil {
		return nil, err
	}
	if p.Items, err = h.itemsOf(ctx, row.Owner, paths); err != nil {
		return nil, err
	}
	if p.Models, err = h.modelsOf(ctx, row.Owner, paths); err != nil {
		return nil, err
	}
	if p.Run.Promoted, err = h.promoted(ctx, row, p.Items); err != nil {
		return nil, err
	}
	res := runner.Recorded(ctx, p)
	if known.Thread != nil {
		res.Conversation = known.Thread.ID
	}
	return res, nil
}

// recordOf converts a row to the record that the agent saved.
func recordOf(row ledger.Run) agent.RunRecord {
	r := agent.RunRecord{
		ID: row.ID, ParentID: row.Parent, Tree: row.Tree, Agent: row.Agent, AgentPath: row.AgentPath, Depth: row.Depth,
		DefinitionHash: row.DefinitionHash, Task: row.Task, Status: agent.Status(row.Status), Message: row.Message, Payload: row.Payload,
		InputImages: row.InputImages, Turns: int(row.Usage.Turns), Warnings: row.Warnings, Cost: agent.Cost(row.Cost), StartedAt: row.StartedAt, FinishedAt: row.FinishedAt,
		Usage: agent.Usage{
			ModelCalls: int(row.Usage.ModelCalls), InputTokens: row.Usage.InputTokens, OutputTokens: row.Usage.OutputTokens,
			Images: int(row.Usage.Images), WorkedMS: row.Usage.WorkedMS,
		},
	}
	_ = json.Unmarshal(row.Dispositions, &r.Dispositions) // unreadable dispositions are omitted
	if row.Failure != (ledger.Failure{}) {
		r.Error = &action.Problem{Code: media.Code(row.Failure.Code), Message: row.Failure.Message, Retryable: row.Failure.Retryable}
	}
	return r
}

// stepsOf lists the acts of a run and of its sub-agents in order of completion: those of a
// sub-agent before the act that called it.
func (h history) stepsOf(ctx context.Context, owner, runID string, paths map[string]string) ([]agent.StepRecord, error) {
	rows, err := ledger.AllOf(ctx, h.ledger.ListSteps, owner, runID)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(rows, func(a, b ledger.Step) int { return a.FinishedAt.Compare(b.FinishedAt) })
	var out []agent.StepRecord
	for _, row := range rows {
		if _, ok := paths[row.ChildRunID]; ok {
			below, err := h.stepsOf(ctx, owner, row.ChildRunID, paths)
			if err != nil {
				return nil, err
			}
			out = append(out, below...)
		}
		out = append(out, agent.StepRecord{
			ID: row.ID, RunID: row.RunID, AgentPath: paths[row.RunID], Turn: row.Turn, Index: row.Position, Kind: agent.StepKind(row.Kind), Name: row.Name,
			Status: agent.Status(row.Status), Code: row.Code, Message: row.Message, Params: row.Params, Outputs: row.Outputs,
			ChildRunID: row.ChildRunID, StartedAt: row.StartedAt, FinishedAt: row.FinishedAt,
		})
	}
	return out, nil
}

// ofRuns reads complete lists of several runs.
func ofRuns[T any](ctx context.Context, list func(ctx context.Context, owner, id string, p ledger.Page) (ledger.List[T], error), owner string, paths map[string]string) (out []T, err error) {
	for _, id := range slices.Sorted(maps.Keys(paths)) {
		some, err := ledger.AllOf(ctx, list, owner, id)
		if err != nil {
			return nil, err
		}
		out = append(out, some...)
	}
	return out, nil
}

// itemsOf lists the items that the runs of a tree made or received, each once, in order. Deleted ones are omitted.
func (h history) itemsOf(ctx context.Context, owner string, paths map[string]string) ([]media.Output, error) {
	links, err := ofRuns(ctx, h.ledger.ListPromptMedia, owner, paths)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(links, func(a, b ledger.Link) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	var out []media.Output
	seen := map[media.Ref]bool{}
	for _, l := range links {
		rec, err := h.ledger.MediaRecord(ctx, owner, l.MediaID)
		if media.CodeOf(err) == media.CodeNotFound {
			continue
		}
		if err != nil {
			return nil, err
		}
		if seen[rec.Ref] {
			continue
		}
		seen[rec.Ref] = true
		rec.Promoted = false
		rec.Origin.Direction = cmp.Or(l.Direction, rec.Origin.Direction)
		out = append(out, rec.Output)
	}
	return out, nil
}

// promoted lists the items that a run chose, and marks them.
func (h history) promoted(ctx context.Context, row ledger.Run, items []media.Output) ([]media.Output, error) {
	links, err := ledger.AllOf(ctx, h.ledger.ListAgentMedia, row.Owner, row.ID)
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

// modelsOf lists the chat models that a tree used, in order of first use.
func (h history) modelsOf(ctx context.Context, owner string, paths map[string]string) ([]string, error) {
	calls, err := ofRuns(ctx, h.ledger.ListPrompts, owner, paths)
	if err != nil {
		return nil, err
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
