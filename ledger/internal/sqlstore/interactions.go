package sqlstore

import (
	"context"
	"database/sql"
	"time"

	"atelier/ledger"
	"atelier/media"
)

func interactionColumns(i *ledger.Interaction) columns {
	return columns{
		{"id", &i.ID},
		{"owner", &i.Owner},
		{"workflow_run_id", &i.WorkflowRunID},
		{"step_id", &i.StepID},
		{"status", &i.Status},
		{"request", jsonCol{&i.Request}},
		{"data", jsonCol{&i.Data}},
		{"version", &i.Version},
		{"edits", jsonCol{&i.Edits}},
		{"answer", jsonCol{&i.Answer}},
		{"expires_at", timeCol{&i.ExpiresAt}},
		{"answered_at", timeCol{&i.AnsweredAt}},
		{"created_at", timeCol{&i.CreatedAt}},
		{"updated_at", timeCol{&i.UpdatedAt}},
	}
}

// CreateInteraction saves an open interaction, or returns the existing open one.
func (s interactions) CreateInteraction(ctx context.Context, i ledger.Interaction) (kept ledger.Interaction, err error) {
	const what = "create interaction"
	if err := need(what, "id", i.ID, "owner", i.Owner, "workflow run id", i.WorkflowRunID, "step id", i.StepID, "request", string(i.Request)); err != nil {
		return kept, err
	}
	i.Status, i.Answer, i.AnsweredAt = ledger.InteractionOpen, nil, time.Time{}
	s.stamp(&i.CreatedAt, &i.UpdatedAt)
	err = s.advance(ctx, what, func(ctx context.Context, tx *sql.Tx) error {
		err := interactionColumns(&i).insert(ctx, tx, "interactions", ` ON CONFLICT (workflow_run_id, step_id) WHERE status = 'open' DO NOTHING`)
		if err != nil {
			return err
		}
		kept, err = one(ctx, tx, interactionColumns, owned("interactions", i.Owner).
			where("workflow_run_id = ?", i.WorkflowRunID).where("step_id = ?", i.StepID).and("status = 'open'"))
		return err
	})
	return kept, err
}

// Interaction returns one interaction.
func (s interactions) Interaction(ctx context.Context, owner, id string) (ledger.Interaction, error) {
	return read(ctx, s.db, "read interaction "+id, interactionColumns, owned("interactions", owner).where("id = ?", id))
}

// ChangeInteraction saves a change of an open interaction.
func (s interactions) ChangeInteraction(ctx context.Context, i ledger.Interaction, base int) error {
	const what = "change interaction"
	if err := need(what, "id", i.ID, "owner", i.Owner, "status", string(i.Status)); err != nil {
		return err
	}
	i.UpdatedAt = s.cfg.Now()
	changes := interactionColumns(&i).without("id", "owner", "workflow_run_id", "step_id", "request", "expires_at", "created_at")
	return s.advance(ctx, what, func(ctx context.Context, tx *sql.Tx) error {
		n, err := changes.update(ctx, tx, "interactions", "owner = ? AND id = ? AND version = ? AND status = 'open'", i.Owner, i.ID, base)
		if err != nil || n > 0 {
			return err
		}
		have, err := one(ctx, tx, interactionColumns, owned("interactions", i.Owner).where("id = ?", i.ID))
		if err != nil {
			return err
		}
		if have.Status != ledger.InteractionOpen {
			return media.Errorf(media.CodeConflict, "interaction %s is %s", i.ID, have.Status)
		}
		return media.Errorf(media.CodeVersion, "interaction %s has version %d, not %d: read it again", i.ID, have.Version, base)
	})
}

// ListInteractions lists the interactions of a workflow run.
func (s interactions) ListInteractions(ctx context.Context, owner, workflowRunID string) ([]ledger.Interaction, error) {
	return readAll(ctx, s.db, "list interactions", interactionColumns, owned("interactions", owner).where("workflow_run_id = ?", workflowRunID).orderBy("id"))
}

// ListOpenExpired lists open interactions that have expired.
func (s interactions) ListOpenExpired(ctx context.Context, before time.Time, limit int) ([]ledger.Interaction, error) {
	// A literal, because the index contains only open interactions.
	return readAll(ctx, s.db, "list expired interactions", interactionColumns,
		from("interactions").and("status = 'open'").where("expires_at < ?", stampText(before)).orderBy("expires_at, id").first(limit))
}
