package sqlstore

import (
	"context"
	"database/sql"
	"slices"

	"atelier/ledger"
)

func runColumns(r *ledger.Run) columns {
	return slices.Concat(columns{
		{"id", &r.ID},
		{"owner", &r.Owner},
		{"tree_id", &r.Tree},
		{"parent_run_id", nullable(&r.Parent)},
		{"depth", &r.Depth},
		{"agent", &r.Agent},
		{"agent_path", nullable(&r.AgentPath)},
		{"definition_hash", nullable(&r.DefinitionHash)},
		{"definition", jsonCol{&r.Definition}},
		{"task", &r.Task},
		{"forked_from", nullable(&r.ForkedFrom)},
		{"forked_step", prose(&r.ForkedStep)},
		{"started_at", timeCol{&r.StartedAt}},
		{"created_at", timeCol{&r.CreatedAt}},
	}, runOutcome(r))
}

// runOutcome returns the columns that FinishRun writes.
func runOutcome(r *ledger.Run) columns {
	return slices.Concat(columns{
		{"status", &r.Status},
		{"message", prose(&r.Message)},
		{"payload", jsonCol{&r.Payload}},
		{"warnings", jsonCol{&r.Warnings}},
		{"turns", &r.Usage.Turns},
		{"model_calls", &r.Usage.ModelCalls},
		{"images", &r.Usage.Images},
		{"worked_ms", &r.Usage.WorkedMS},
		{"input_tokens", &r.Usage.InputTokens},
		{"output_tokens", &r.Usage.OutputTokens},
		{"estimated_usd", &r.Cost.EstimatedUSD},
		{"reported_usd", &r.Cost.ReportedUSD},
		{"cost_complete", flagCol{&r.Cost.Complete}},
		{"limits", jsonCol{&r.Limits}},
		{"input_images", jsonCol{&r.InputImages}},
		{"vision_context", jsonCol{&r.VisionContext}},
		{"dispositions", jsonCol{&r.Dispositions}},
		{"finished_at", timeCol{&r.FinishedAt}},
		{"updated_at", timeCol{&r.UpdatedAt}},
	}, failureColumns(&r.Failure))
}

// CreateRun inserts a run.
func (s runs) CreateRun(ctx context.Context, r ledger.Run) error {
	const what = "save run"
	if err := need(what, "id", r.ID, "owner", r.Owner, "tree", r.Tree, "agent", r.Agent); err != nil {
		return err
	}
	s.stamp(&r.CreatedAt, &r.UpdatedAt)
	r.Task = clean(r.Task)
	return s.advance(ctx, what, saving("agent_runs", "", runColumns(&r)))
}

// FinishRun saves the outcome of a run.
func (s runs) FinishRun(ctx context.Context, r ledger.Run) error {
	const what = "finish run"
	r.UpdatedAt = s.cfg.Now()
	// A process that ends a run that could not continue does not know its limits and pictures.
	outcome := runOutcome(&r).withoutNull("limits", "input_images")
	return s.advance(ctx, what, func(ctx context.Context, tx *sql.Tx) error {
		n, err := outcome.update(ctx, tx, "agent_runs", "id = ? AND owner = ?", r.ID, r.Owner)
		return checkRowChanged(what, r.ID, n, err)
	})
}

// Run returns one run.
func (s runs) Run(ctx context.Context, owner, id string) (ledger.Run, error) {
	return read(ctx, s.db, "read run "+id, runColumns, owned("agent_runs", owner).where("id = ?", id).and("deleted_at IS NULL"))
}

// HasRun reports whether a run with this id exists.
func (s runs) HasRun(ctx context.Context, id string) (known bool, err error) {
	err = s.read.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM agent_runs WHERE id = $1)`, id).Scan(&known)
	return known, s.failure("look for run "+id, err)
}

// ListRuns lists runs, newest first.
func (s runs) ListRuns(ctx context.Context, owner string, q ledger.RunQuery) (ledger.List[ledger.Run], error) {
	sel := owned("agent_runs", owner).and("deleted_at IS NULL").orderBy("id DESC")
	if q.Roots {
		sel.and("depth = 0")
	}
	if q.Tree != "" {
		sel.where("tree_id = ?", q.Tree)
	}
	if q.Status != "" {
		sel.where("status = ?", string(q.Status))
	}
	if q.Agent != "" {
		sel.where("agent = ?", q.Agent)
	}
	return page(ctx, s.db, "list runs", runColumns, sel.paged(q.Page))
}

func stepColumns(st *ledger.Step) columns {
	return columns{
		{"id", &st.ID},
		{"run_id", &st.RunID},
		{"turn", &st.Turn},
		{"position", &st.Position},
		{"kind", &st.Kind},
		{"name", &st.Name},
		{"status", &st.Status},
		{"code", prose(&st.Code)},
		{"message", prose(&st.Message)},
		{"params", jsonCol{&st.Params}},
		{"outputs", jsonCol{&st.Outputs}},
		{"child_run_id", nullable(&st.ChildRunID)},
		{"started_at", timeCol{&st.StartedAt}},
		{"finished_at", timeCol{&st.FinishedAt}},
		{"created_at", timeCol{&st.CreatedAt}},
		{"updated_at", timeCol{&st.UpdatedAt}},
	}
}

// SaveStep inserts or overwrites a step.
func (s runs) SaveStep(ctx context.Context, st ledger.Step) error {
	const what = "save step"
	if err := need(what, "id", st.ID, "run id", st.RunID); err != nil {
		return err
	}
	s.stamp(&st.CreatedAt, &st.UpdatedAt)
	st.Name = clean(st.Name)
	return s.commit(ctx, what, saving("agent_run_steps", "id", stepColumns(&st)))
}

// ListSteps lists a run's steps in order.
func (s runs) ListSteps(ctx context.Context, owner, runID string, p ledger.Page) (ledger.List[ledger.Step], error) {
	return page(ctx, s.db, "list steps", stepColumns, s.ofRun(ctx, "agent_run_steps", owner, runID).orderBy("id").paged(p))
}

// ofRun selects the rows of an owner's run.
func (s *db) ofRun(ctx context.Context, table, owner, runID string) *query {
	q := from(table).where("run_id = ?", runID)
	_, q.err = s.treeOf(ctx, owner, runID)
	return q
}

func promptColumns(p *ledger.Prompt) columns {
	return slices.Concat(columns{
		{"id", &p.ID},
		{"run_id", &p.RunID},
		{"turn", &p.Turn},
		{"model", &p.Model},
		{"provider", nullable(&p.Provider)},
		{"messages", jsonCol{&p.Messages}},
		{"answer", prose(&p.Answer)},
		{"status", &p.Status},
		{"input_tokens", &p.InputTokens},
		{"output_tokens", &p.OutputTokens},
		{"cost_usd", &p.CostUSD},
		{"started_at", timeCol{&p.StartedAt}},
		{"finished_at", timeCol{&p.FinishedAt}},
		{"created_at", timeCol{&p.CreatedAt}},
		{"updated_at", timeCol{&p.UpdatedAt}},
	}, failureColumns(&p.Failure))
}

// SavePrompt inserts or overwrites a model call.
func (s prompts) SavePrompt(ctx context.Context, p ledger.Prompt) error {
	const what = "save prompt run"
	if err := need(what, "id", p.ID, "run id", p.RunID); err != nil {
		return err
	}
	s.stamp(&p.CreatedAt, &p.UpdatedAt)
	return s.commit(ctx, what, saving("prompt_runs", "id", promptColumns(&p)))
}

// ListPrompts lists a run's model calls in order.
func (s prompts) ListPrompts(ctx context.Context, owner, runID string, p ledger.Page) (ledger.List[ledger.Prompt], error) {
	return page(ctx, s.db, "list prompt runs", promptColumns, s.ofRun(ctx, "prompt_runs", owner, runID).orderBy("id").paged(p))
}
