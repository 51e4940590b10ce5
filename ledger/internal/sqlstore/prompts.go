package sqlstore

import (
	"context"
	"slices"

	"atelier/ledger"
)

func promptColumns(p *ledger.Prompt) columns {
	return slices.Concat(columns{
		{"id", &p.ID}, {"run_id", &p.RunID}, {"turn", &p.Turn}, {"model", &p.Model}, {"provider", str(&p.Provider)},
		{"messages", jsonCol{&p.Messages}}, {"answer", prose(&p.Answer)}, {"finish_reason", str(&p.FinishReason)}, {"status", &p.Status},
		{"input_tokens", &p.InputTokens}, {"output_tokens", &p.OutputTokens}, {"cost_usd", &p.CostUSD},
		{"started_at", timeCol{&p.StartedAt}}, {"finished_at", timeCol{&p.FinishedAt}},
		{"created_at", timeCol{&p.CreatedAt}}, {"updated_at", timeCol{&p.UpdatedAt}},
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
	if err := s.ownsRun(ctx, owner, runID); err != nil {
		return ledger.List[ledger.Prompt]{}, err
	}
	list, err := page(ctx, s.read, promptColumns, from("prompt_runs").where("run_id = ?", runID).orderBy("id"), p)
	return list, s.failure("list prompt runs", err)
}
