package sqlstore

import (
	"context"
	"database/sql"
	"time"

	"atelier/ledger"
	"atelier/media"
)

const generationColumns = `id, owner, workflow_run_id, interaction_id, step_id, sub_action_id, action_type, provider, model, operation_id, prompt_id,
	source_data, prompt_as_sent, params, dispositions, status, error_code, error_message, retryable, elapsed_ms, cost_usd, finished_at, created_at, updated_at,
	request_id, request_digest, result_target, stand_in`

func scanGeneration(from row) (g ledger.ContentGeneration, err error) {
	err = from.Scan(&g.ID, &g.Owner, &g.WorkflowRunID, &g.InteractionID, str(&g.StepID), str(&g.SubActionID), &g.ActionType, str(&g.Provider),
		str(&g.Model), str(&g.OperationID), str(&g.PromptID), jsonCol{&g.SourceData}, str(&g.PromptAsSent), jsonCol{&g.Params}, jsonCol{&g.Dispositions},
		&g.Status, str(&g.Failure.Code), str(&g.Failure.Message), &g.Failure.Retryable, num(&g.ElapsedMS), &g.CostUSD,
		timeCol{&g.FinishedAt}, timeCol{&g.CreatedAt}, timeCol{&g.UpdatedAt}, str(&g.RequestID), str(&g.RequestDigest), jsonCol{&g.ResultTarget}, &g.StandIn)
	return g, err
}

const contentColumns = `c.id, c.metadata_id, c.position, c.media_id, c.modality, c.seed, c.revised_prompt, c.selected_at, c.created_at`

const contentTables = `generated_content c JOIN content_generation_metadata g ON g.id = c.metadata_id`

func scanContent(from row) (c ledger.GeneratedContent, err error) {
	err = from.Scan(&c.ID, &c.MetadataID, &c.Position, &c.MediaID, str(&c.Modality), &c.Seed, str(&c.RevisedPrompt), timeCol{&c.SelectedAt}, timeCol{&c.CreatedAt})
	return c, err
}

// SaveContentGeneration inserts or overwrites a row.
func (s contents) SaveContentGeneration(ctx context.Context, g ledger.ContentGeneration) error {
	const what = "save content generation"
	if err := need(what, "id", g.ID, "owner", g.Owner, "workflow run id", g.WorkflowRunID, "interaction id", g.InteractionID,
		"action type", g.ActionType, "status", g.Status); err != nil {
		return err
	}
	now := s.stampNow()
	var v values
	v.set("id", g.ID)
	v.set("owner", g.Owner)
	v.set("workflow_run_id", g.WorkflowRunID)
	v.set("interaction_id", g.InteractionID)
	v.set("step_id", text(g.StepID))
	v.set("sub_action_id", text(g.SubActionID))
	v.set("action_type", g.ActionType)
	v.set("request_id", text(g.RequestID))
	v.set("request_digest", text(g.RequestDigest))
	v.set("provider", text(g.Provider))
	v.set("model", text(g.Model))
	v.set("operation_id", text(g.OperationID))
	v.set("prompt_id", prose(g.PromptID))
	v.set("source_data", raw(g.SourceData))
	v.set("prompt_as_sent", prose(g.PromptAsSent))
	v.set("params", raw(g.Params))
	v.set("dispositions", raw(g.Dispositions))
	v.set("result_target", raw(g.ResultTarget))
	v.set("stand_in", flag(g.StandIn))
	v.set("status", g.Status)
	v.failure(g.Failure)
	v.set("elapsed_ms", number(g.ElapsedMS))
	v.set("cost_usd", g.CostUSD)
	v.set("finished_at", stamp(g.FinishedAt))
	v.set("created_at", now)
	v.set("updated_at", now)
	return s.advance(ctx, what, func(ctx context.Context, tx *sql.Tx) error {
		res, err := v.upsertWhere(ctx, tx, "content_generation_metadata", "id", "content_generation_metadata.owner = excluded.owner")
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n > 0 {
			return err
		}
		return media.Errorf(media.CodeConflict, "%s: the id %s is already used", what, g.ID)
	})
}

// SaveGeneratedContent saves a result once.
func (s contents) SaveGeneratedContent(ctx context.Context, owner string, c ledger.GeneratedContent) (kept ledger.GeneratedContent, err error) {
	const what = "save generated content"
	if err := need(what, "owner", owner, "id", c.ID, "metadata id", c.MetadataID, "media id", c.MediaID); err != nil {
		return kept, err
	}
	err = s.advance(ctx, what, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO generated_content (id, metadata_id, position, media_id, modality, seed, revised_prompt, created_at)
			SELECT $1, id, $3, $4, $5, $6, $7, $8 FROM content_generation_metadata WHERE id = $2 AND owner = $9
			ON CONFLICT (metadata_id, position) DO NOTHING`,
			c.ID, c.MetadataID, c.Position, c.MediaID, text(string(c.Modality)), c.Seed, prose(c.RevisedPrompt), s.stampNow(), owner)
		if err != nil {
			return err
		}
		kept, err = scanContent(tx.QueryRowContext(ctx, `SELECT `+contentColumns+` FROM `+contentTables+
			` WHERE g.owner = $1 AND c.metadata_id = $2 AND c.position = $3`, owner, c.MetadataID, c.Position))
		return err
	})
	return kept, err
}

// ContentGeneration reads a row with its results.
func (s contents) ContentGeneration(ctx context.Context, owner, id string) (ledger.ContentGeneration, []ledger.GeneratedContent, error) {
	if err := needOwner(owner); err != nil {
		return ledger.ContentGeneration{}, nil, err
	}
	g, err := scanGeneration(s.read.QueryRowContext(ctx, `SELECT `+generationColumns+` FROM content_generation_metadata WHERE owner = $1 AND id = $2`, owner, id))
	if err != nil {
		return g, nil, s.failure("read content generation "+id, err)
	}
	q := selectFrom(contentColumns, "generated_content c", "c.metadata_id = ?", id)
	q.text.WriteString(" ORDER BY c.position")
	list, err := collect(ctx, s.read, q, scanContent)
	return g, list, s.failure("read generated content", err)
}

// ContentGenerationOfRequest reads the row of a click.
func (s contents) ContentGenerationOfRequest(ctx context.Context, owner, interactionID, requestID string) (ledger.ContentGeneration, error) {
	if err := needOwner(owner); err != nil {
		return ledger.ContentGeneration{}, err
	}
	g, err := scanGeneration(s.read.QueryRowContext(ctx, `SELECT `+generationColumns+` FROM content_generation_metadata
		WHERE owner = $1 AND interaction_id = $2 AND request_id = $3`, owner, interactionID, requestID))
	return g, s.failure("read the content generation of request "+requestID, err)
}

// ListContentGenerations lists those of a workflow run.
func (s contents) ListContentGenerations(ctx context.Context, owner, workflowRunID string, p ledger.Page) (ledger.List[ledger.ContentGeneration], error) {
	if err := needOwner(owner); err != nil {
		return ledger.List[ledger.ContentGeneration]{}, err
	}
	q := selectFrom(generationColumns, "content_generation_metadata", "owner = ?", owner)
	q.where("workflow_run_id = ?", workflowRunID)
	list, err := page(ctx, s.read, q, p, order[ledger.ContentGeneration]{
		key: "id", scan: scanGeneration, next: func(g ledger.ContentGeneration) string { return g.ID },
	})
	return list, s.failure("list content generations", err)
}

// OpenContentGenerations lists those of an interaction that have not ended.
func (s contents) OpenContentGenerations(ctx context.Context, owner, interactionID string) ([]ledger.ContentGeneration, error) {
	if err := needOwner(owner); err != nil {
		return nil, err
	}
	q := selectFrom(generationColumns, "content_generation_metadata", "owner = ?", owner)
	q.where("interaction_id = ?", interactionID)
	q.text.WriteString(" AND finished_at IS NULL ORDER BY id")
	list, err := collect(ctx, s.read, q, scanGeneration)
	return list, s.failure("list open content generations", err)
}

// ListOpenContentGenerations lists those of all owners that have not ended.
func (s contents) ListOpenContentGenerations(ctx context.Context, p ledger.Page) (ledger.List[ledger.ContentGeneration], error) {
	q := selectFrom(generationColumns, "content_generation_metadata", "finished_at IS NULL AND status <> ?", "")
	list, err := page(ctx, s.read, q, p, order[ledger.ContentGeneration]{
		key: "id", scan: scanGeneration, next: func(g ledger.ContentGeneration) string { return g.ID },
	})
	return list, s.failure("list open content generations", err)
}

// GeneratedContent reads one result.
func (s contents) GeneratedContent(ctx context.Context, owner, id string) (ledger.GeneratedContent, error) {
	if err := needOwner(owner); err != nil {
		return ledger.GeneratedContent{}, err
	}
	c, err := scanContent(s.read.QueryRowContext(ctx, `SELECT `+contentColumns+` FROM `+contentTables+` WHERE g.owner = $1 AND c.id = $2`, owner, id))
	return c, s.failure("read generated content "+id, err)
}

// ContentOfMedia lists the results that are a media item.
func (s contents) ContentOfMedia(ctx context.Context, owner, mediaID string) ([]ledger.GeneratedContent, error) {
	if err := needOwner(owner); err != nil {
		return nil, err
	}
	q := selectFrom(contentColumns, contentTables, "g.owner = ?", owner)
	q.where("c.media_id = ?", mediaID)
	q.text.WriteString(" ORDER BY c.id")
	list, err := collect(ctx, s.read, q, scanContent)
	return list, s.failure("read the content of media "+mediaID, err)
}

// SelectContents records a choice.
func (s contents) SelectContents(ctx context.Context, owner, interactionID string, ids []string, at time.Time) error {
	const what = "select generated content"
	if err := need(what, "owner", owner, "interaction id", interactionID); err != nil {
		return err
	}
	return s.advance(ctx, what, func(ctx context.Context, tx *sql.Tx) error {
		for _, id := range ids {
			res, err := tx.ExecContext(ctx, `UPDATE generated_content SET selected_at = COALESCE(selected_at, $1)
				WHERE id = $2 AND metadata_id IN (SELECT id FROM content_generation_metadata WHERE owner = $3 AND interaction_id = $4)`,
				stampText(at), id, owner, interactionID)
			if err != nil {
				return err
			}
			if err := changed(what, id, res); err != nil {
				return err
			}
		}
		return nil
	})
}
