package sqlstore

import (
	"context"
	"database/sql"
	"strconv"
	"time"

	"atelier/ledger"
	"atelier/media"
)

const interactionColumns = `id, owner, workflow_run_id, step_id, status, request, data, version, edits, answer,
	expires_at, answered_at, created_at, updated_at`

func scanInteraction(from row) (i ledger.Interaction, err error) {
	err = from.Scan(&i.ID, &i.Owner, &i.WorkflowRunID, &i.StepID, &i.Status, jsonCol{&i.Request}, jsonCol{&i.Data}, &i.Version,
		jsonCol{&i.Edits}, jsonCol{&i.Answer}, timeCol{&i.ExpiresAt}, timeCol{&i.AnsweredAt}, timeCol{&i.CreatedAt}, timeCol{&i.UpdatedAt})
	return i, err
}

// CreateInteraction saves an open interaction, or reads the one that is open.
func (s interactions) CreateInteraction(ctx context.Context, i ledger.Interaction) (kept ledger.Interaction, err error) {
	const what = "create interaction"
	if err := need(what, "id", i.ID, "owner", i.Owner, "workflow run id", i.WorkflowRunID, "step id", i.StepID, "request", string(i.Request)); err != nil {
		return kept, err
	}
	now := s.stampNow()
	var v values
	v.set("id", i.ID)
	v.set("owner", i.Owner)
	v.set("workflow_run_id", i.WorkflowRunID)
	v.set("step_id", i.StepID)
	v.set("status", string(ledger.InteractionOpen))
	v.set("request", raw(i.Request))
	v.set("data", raw(i.Data))
	v.set("version", i.Version)
	v.set("edits", raw(i.Edits))
	v.set("expires_at", stamp(i.ExpiresAt))
	v.set("created_at", now)
	v.set("updated_at", now)
	err = s.advance(ctx, what, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, v.insertSQL("interactions")+` ON CONFLICT (workflow_run_id, step_id) WHERE status = 'open' DO NOTHING`, v.args...)
		if err != nil {
			return err
		}
		kept, err = scanInteraction(tx.QueryRowContext(ctx, `SELECT `+interactionColumns+` FROM interactions
			WHERE owner = $1 AND workflow_run_id = $2 AND step_id = $3 AND status = 'open'`, i.Owner, i.WorkflowRunID, i.StepID))
		return err
	})
	return kept, err
}

// Interaction reads one.
func (s interactions) Interaction(ctx context.Context, owner, id string) (ledger.Interaction, error) {
	if err := needOwner(owner); err != nil {
		return ledger.Interaction{}, err
	}
	i, err := scanInteraction(s.read.QueryRowContext(ctx, `SELECT `+interactionColumns+` FROM interactions WHERE owner = $1 AND id = $2`, owner, id))
	return i, s.failure("read interaction "+id, err)
}

// ChangeInteraction saves a change of an open interaction.
func (s interactions) ChangeInteraction(ctx context.Context, i ledger.Interaction, base int) error {
	const what = "change interaction"
	if err := need(what, "id", i.ID, "owner", i.Owner, "status", string(i.Status)); err != nil {
		return err
	}
	var v values
	v.set("status", string(i.Status))
	v.set("data", raw(i.Data))
	v.set("version", i.Version)
	v.set("edits", raw(i.Edits))
	v.set("answer", raw(i.Answer))
	v.set("answered_at", stamp(i.AnsweredAt))
	v.set("updated_at", s.stampNow())
	return s.advance(ctx, what, func(ctx context.Context, tx *sql.Tx) error {
		n := len(v.args)
		res, err := tx.ExecContext(ctx, v.updateSQL("interactions")+" WHERE owner = $"+strconv.Itoa(n+1)+" AND id = $"+strconv.Itoa(n+2)+
			" AND version = $"+strconv.Itoa(n+3)+" AND status = 'open'", append(v.args[:n:n], i.Owner, i.ID, base)...)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n > 0 {
			return err
		}
		var status string
		var version int
		err = tx.QueryRowContext(ctx, `SELECT status, version FROM interactions WHERE owner = $1 AND id = $2`, i.Owner, i.ID).Scan(&status, &version)
		if err != nil {
			return err
		}
		if status != string(ledger.InteractionOpen) {
			return media.Errorf(media.CodeConflict, "interaction %s is %s", i.ID, status)
		}
		return media.Errorf(media.CodeVersion, "interaction %s has version %d, not %d: read it again", i.ID, version, base)
	})
}

// ListInteractions lists those of a workflow run.
func (s interactions) ListInteractions(ctx context.Context, owner, workflowRunID string) ([]ledger.Interaction, error) {
	if err := needOwner(owner); err != nil {
		return nil, err
	}
	q := selectFrom(interactionColumns, "interactions", "owner = ?", owner)
	q.where("workflow_run_id = ?", workflowRunID)
	q.text.WriteString(" ORDER BY id")
	list, err := collect(ctx, s.read, q, scanInteraction)
	return list, s.failure("list interactions", err)
}

// ListOpenExpired lists open interactions whose time has ended.
func (s interactions) ListOpenExpired(ctx context.Context, before time.Time, limit int) ([]ledger.Interaction, error) {
	q := selectFrom(interactionColumns, "interactions", "status = ?", string(ledger.InteractionOpen))
	q.where("expires_at < ?", stampText(before))
	q.text.WriteString(" ORDER BY expires_at, id LIMIT " + strconv.Itoa(ledger.Page{Limit: limit}.Bound()))
	list, err := collect(ctx, s.read, q, scanInteraction)
	return list, s.failure("list expired interactions", err)
}
