package sqlstore

import (
	"context"
	"database/sql"

	"atelier/ledger"
)

// SavePrompt inserts or overwrites a model call.
func (s prompts) SavePrompt(ctx context.Context, p ledger.Prompt) error {
	const what = "save prompt run"
	if err := need(what, "id", p.ID, "run id", p.RunID); err != nil {
		return err
	}
	now := s.stampNow()
	var v values
	v.set("id", p.ID)
	v.set("run_id", p.RunID)
	v.set("turn", p.Turn)
	v.set("model", p.Model)
	v.set("provider", text(p.Provider))
	v.set("messages", raw(p.Messages))
	v.set("answer", prose(p.Answer))
	v.set("finish_reason", text(p.FinishReason))
	v.set("status", string(p.Status))
	v.set("input_tokens", p.InputTokens)
	v.set("output_tokens", p.OutputTokens)
	v.set("cost_usd", p.CostUSD)
	v.failure(p.Failure)
	v.set("started_at", stamp(p.StartedAt))
	v.set("finished_at", stamp(p.FinishedAt))
	v.set("created_at", now)
	v.set("updated_at", now)
	return s.commit(ctx, what, func(ctx context.Context, tx *sql.Tx) error {
		return v.upsert(ctx, tx, "prompt_runs", "id")
	})
}

// ListPrompts lists a run's model calls in order.
func (s prompts) ListPrompts(ctx context.Context, owner, runID string, p ledger.Page) (ledger.List[ledger.Prompt], error) {
	if err := s.ownsRun(ctx, owner, runID); err != nil {
		return ledger.List[ledger.Prompt]{}, err
	}
	sel := selectFrom(`id, run_id, turn, model, provider, messages, answer, finish_reason, status,
		input_tokens, output_tokens, cost_usd, error_code, error_message, retryable,
		started_at, finished_at, created_at, updated_at`, "prompt_runs", "run_id = ?", runID)
	list, err := page(ctx, s.read, sel, p, order[ledger.Prompt]{
		key: "id", scan: scanPrompt, next: func(p ledger.Prompt) string { return p.ID },
	})
	return list, s.failure("list prompt runs", err)
}

func scanPrompt(from row) (ledger.Prompt, error) {
	var p ledger.Prompt
	err := from.Scan(&p.ID, &p.RunID, &p.Turn, &p.Model, str(&p.Provider), jsonCol{&p.Messages},
		str(&p.Answer), str(&p.FinishReason), &p.Status, &p.InputTokens, &p.OutputTokens, &p.CostUSD,
		str(&p.Failure.Code), str(&p.Failure.Message), &p.Failure.Retryable,
		timeCol{&p.StartedAt}, timeCol{&p.FinishedAt}, timeCol{&p.CreatedAt}, timeCol{&p.UpdatedAt})
	return p, err
}
