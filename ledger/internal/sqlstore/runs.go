package sqlstore

import (
	"context"
	"database/sql"
	"fmt"

	"atelier/ledger"
)

// CreateRun inserts a run.
func (s runs) CreateRun(ctx context.Context, r ledger.Run) error {
	const what = "save run"
	if err := need(what, "id", r.ID, "owner", r.Owner, "tree", r.Tree, "agent", r.Agent); err != nil {
		return err
	}
	now := s.stampNow()
	var v values
	v.set("id", r.ID)
	v.set("owner", r.Owner)
	v.set("tree_id", r.Tree)
	v.set("parent_run_id", text(r.Parent))
	v.set("depth", r.Depth)
	v.set("agent", r.Agent)
	v.set("agent_path", text(r.AgentPath))
	v.set("definition_hash", text(r.DefinitionHash))
	v.set("definition", raw(r.Definition))
	v.set("task", clean(r.Task))
	v.set("forked_from", text(r.ForkedFrom))
	v.set("forked_step", prose(r.ForkedStep))
	v.set("started_at", stamp(r.StartedAt))
	v.set("created_at", now)
	runOutcome(&v, r, now)
	return s.advance(ctx, what, func(ctx context.Context, tx *sql.Tx) error {
		return v.insert(ctx, tx, "agent_runs")
	})
}

// FinishRun writes how a run ended.
func (s runs) FinishRun(ctx context.Context, r ledger.Run) error {
	const what = "finish run"
	var v values
	runOutcome(&v, r, s.stampNow())
	return s.advance(ctx, what, func(ctx context.Context, tx *sql.Tx) error {
		at := len(v.names)
		where := fmt.Sprintf(" WHERE id = $%d AND owner = $%d", at+1, at+2)
		res, err := tx.ExecContext(ctx, v.updateSQL("agent_runs")+where, append(v.args, r.ID, r.Owner)...)
		if err != nil {
			return err
		}
		return changed(what, r.ID, res)
	})
}

func runOutcome(v *values, r ledger.Run, now string) {
	v.set("status", string(r.Status))
	v.set("message", prose(r.Message))
	v.set("payload", raw(r.Payload))
	v.set("warnings", document(r.Warnings))
	v.set("model_calls", r.Usage.ModelCalls)
	v.set("input_tokens", r.Usage.InputTokens)
	v.set("output_tokens", r.Usage.OutputTokens)
	v.set("images", r.Usage.Images)
	v.set("turns", r.Usage.Turns)
	v.set("worked_ms", r.Usage.WorkedMS)
	if len(r.Limits) > 0 { // the process that ends a run that could not continue does not know them
		v.set("limits", raw(r.Limits))
	}
	v.set("estimated_usd", r.Cost.EstimatedUSD)
	v.set("reported_usd", r.Cost.ReportedUSD)
	v.set("cost_complete", flag(r.Cost.Complete))
	v.failure(r.Failure)
	if len(r.InputImages) > 0 { // the process that ends a run that could not continue does not know them
		v.set("input_images", document(r.InputImages))
	}
	v.set("vision_context", document(r.VisionContext))
	v.set("dispositions", raw(r.Dispositions))
	v.set("finished_at", stamp(r.FinishedAt))
	v.set("updated_at", now)
}

const runColumns = `id, owner, tree_id, parent_run_id, depth, agent, agent_path, definition_hash, definition,
	status, task, message, payload, warnings, model_calls, input_tokens, output_tokens, images, turns, worked_ms, limits,
	estimated_usd, reported_usd, cost_complete, error_code, error_message, retryable,
	forked_from, forked_step, input_images, vision_context, dispositions, started_at, finished_at, created_at, updated_at`

func scanRun(from row) (ledger.Run, error) {
	var r ledger.Run
	err := from.Scan(&r.ID, &r.Owner, &r.Tree, str(&r.Parent), &r.Depth, &r.Agent, str(&r.AgentPath),
		str(&r.DefinitionHash), jsonCol{&r.Definition}, &r.Status, &r.Task, str(&r.Message),
		jsonCol{&r.Payload}, jsonCol{&r.Warnings}, &r.Usage.ModelCalls, &r.Usage.InputTokens,
		&r.Usage.OutputTokens, &r.Usage.Images, &r.Usage.Turns, &r.Usage.WorkedMS, jsonCol{&r.Limits}, &r.Cost.EstimatedUSD, &r.Cost.ReportedUSD, &r.Cost.Complete,
		str(&r.Failure.Code), str(&r.Failure.Message), &r.Failure.Retryable,
		str(&r.ForkedFrom), str(&r.ForkedStep), jsonCol{&r.InputImages}, jsonCol{&r.VisionContext}, jsonCol{&r.Dispositions},
		timeCol{&r.StartedAt}, timeCol{&r.FinishedAt}, timeCol{&r.CreatedAt}, timeCol{&r.UpdatedAt})
	return r, err
}

// Run reads one run.
func (s runs) Run(ctx context.Context, owner, id string) (ledger.Run, error) {
	if err := needOwner(owner); err != nil {
		return ledger.Run{}, err
	}
	r, err := scanRun(s.read.QueryRowContext(ctx, `SELECT `+runColumns+
		` FROM agent_runs WHERE owner = $1 AND id = $2 AND deleted_at IS NULL`, owner, id))
	return r, s.failure("read run "+id, err)
}

// HasRun reports whether there is a run with this id.
func (s runs) HasRun(ctx context.Context, id string) (known bool, err error) {
	err = s.read.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM agent_runs WHERE id = $1)`, id).Scan(&known)
	return known, s.failure("look for run "+id, err)
}

// ListRuns lists runs, newest first.
func (s runs) ListRuns(ctx context.Context, owner string, q ledger.RunQuery) (ledger.List[ledger.Run], error) {
	if err := needOwner(owner); err != nil {
		return ledger.List[ledger.Run]{}, err
	}
	sel := selectFrom(runColumns, "agent_runs", "deleted_at IS NULL AND owner = ?", owner)
	if q.Roots {
		sel.where("depth = ?", 0)
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
	list, err := page(ctx, s.read, sel, q.Page, order[ledger.Run]{
		key: "id", descending: true, scan: scanRun, next: func(r ledger.Run) string { return r.ID },
	})
	return list, s.failure("list runs", err)
}

// SaveStep inserts or overwrites a step.
func (s runs) SaveStep(ctx context.Context, st ledger.Step) error {
	const what = "save step"
	if err := need(what, "id", st.ID, "run id", st.RunID); err != nil {
		return err
	}
	now := s.stampNow()
	var v values
	v.set("id", st.ID)
	v.set("run_id", st.RunID)
	v.set("turn", st.Turn)
	v.set("position", st.Position)
	v.set("kind", st.Kind)
	v.set("name", clean(st.Name))
	v.set("status", string(st.Status))
	v.set("code", prose(st.Code))
	v.set("message", prose(st.Message))
	v.set("params", raw(st.Params))
	v.set("outputs", raw(st.Outputs))
	v.set("child_run_id", text(st.ChildRunID))
	v.set("started_at", stamp(st.StartedAt))
	v.set("finished_at", stamp(st.FinishedAt))
	v.set("created_at", now)
	v.set("updated_at", now)
	return s.commit(ctx, what, func(ctx context.Context, tx *sql.Tx) error {
		return v.upsert(ctx, tx, "agent_run_steps", "id")
	})
}

// ListSteps lists a run's steps in order.
func (s runs) ListSteps(ctx context.Context, owner, runID string, p ledger.Page) (ledger.List[ledger.Step], error) {
	if err := s.ownsRun(ctx, owner, runID); err != nil {
		return ledger.List[ledger.Step]{}, err
	}
	sel := selectFrom(`id, run_id, turn, position, kind, name, status, code, message, params, outputs,
		child_run_id, started_at, finished_at, created_at, updated_at`, "agent_run_steps", "run_id = ?", runID)
	list, err := page(ctx, s.read, sel, p, order[ledger.Step]{
		key: "id", scan: scanStep, next: func(st ledger.Step) string { return st.ID },
	})
	return list, s.failure("list steps", err)
}

func scanStep(from row) (ledger.Step, error) {
	var st ledger.Step
	err := from.Scan(&st.ID, &st.RunID, &st.Turn, &st.Position, &st.Kind, &st.Name, &st.Status, str(&st.Code),
		str(&st.Message), jsonCol{&st.Params}, jsonCol{&st.Outputs}, str(&st.ChildRunID),
		timeCol{&st.StartedAt}, timeCol{&st.FinishedAt}, timeCol{&st.CreatedAt}, timeCol{&st.UpdatedAt})
	return st, err
}

// ownsRun refuses what is not the owner's.
func (s *db) ownsRun(ctx context.Context, owner, runID string) error {
	if err := needOwner(owner); err != nil {
		return err
	}
	var one int
	err := s.read.QueryRowContext(ctx,
		`SELECT 1 FROM agent_runs WHERE owner = $1 AND id = $2 AND deleted_at IS NULL`, owner, runID).Scan(&one)
	return s.failure("read run "+runID, err)
}
