package sqlstore

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"atelier/ledger"
	"atelier/media"
)

func generationColumns(g *ledger.ContentGeneration) columns {
	return slices.Concat(columns{
		{"id", &g.ID},
		{"owner", &g.Owner},
		{"workflow_run_id", &g.WorkflowRunID},
		{"interaction_id", &g.InteractionID},
		{"step_id", nullable(&g.StepID)},
		{"sub_action_id", nullable(&g.SubActionID)},
		{"action_type", &g.ActionType},
		{"request_id", nullable(&g.RequestID)},
		{"request_digest", nullable(&g.RequestDigest)},
		{"provider", nullable(&g.Provider)},
		{"model", nullable(&g.Model)},
		{"operation_id", nullable(&g.OperationID)},
		{"prompt_id", prose(&g.PromptID)},
		{"source_data", jsonCol{&g.SourceData}},
		{"prompt_as_sent", prose(&g.PromptAsSent)},
		{"params", jsonCol{&g.Params}},
		{"dispositions", jsonCol{&g.Dispositions}},
		{"result_target", jsonCol{&g.ResultTarget}},
		{"stand_in", flagCol{&g.StandIn}},
		{"status", &g.Status},
		{"elapsed_ms", nullable(&g.ElapsedMS)},
		{"cost_usd", &g.CostUSD},
		{"finished_at", timeCol{&g.FinishedAt}},
		{"created_at", timeCol{&g.CreatedAt}},
		{"updated_at", timeCol{&g.UpdatedAt}},
	}, failureColumns(&g.Failure))
}

// generations selects the rows of an owner.
func generations(owner string) *query {
	return owned("content_generation_metadata", owner).orderBy("id")
}

func contentColumns(c *ledger.GeneratedContent) columns {
	return columns{
		{"id", &c.ID},
		{"metadata_id", &c.MetadataID},
		{"position", &c.Position},
		{"media_id", &c.MediaID},
		{"modality", nullable(&c.Modality)},
		{"seed", &c.Seed},
		{"revised_prompt", prose(&c.RevisedPrompt)},
		{"selected_at", timeCol{&c.SelectedAt}},
		{"created_at", timeCol{&c.CreatedAt}},
	}
}

// results selects the results of an owner's rows.
func results(owner string) *query {
	return owned("generated_content JOIN (SELECT id AS generation, owner FROM content_generation_metadata) g ON g.generation = metadata_id", owner).orderBy("id")
}

// SaveContentGeneration inserts or overwrites a row.
func (s contents) SaveContentGeneration(ctx context.Context, g ledger.ContentGeneration) error {
	const what = "save content generation"
	if err := need(what, "id", g.ID, "owner", g.Owner, "workflow run id", g.WorkflowRunID, "interaction id", g.InteractionID,
		"action type", g.ActionType, "status", g.Status); err != nil {
		return err
	}
	s.stamp(&g.CreatedAt, &g.UpdatedAt)
	return s.advance(ctx, what, func(ctx context.Context, tx *sql.Tx) error {
		n, err := generationColumns(&g).upsert(ctx, tx, "content_generation_metadata", "id", "content_generation_metadata.owner = excluded.owner")
		if err == nil && n == 0 {
			return media.Errorf(media.CodeConflict, "%s: the id %s is already used", what, g.ID)
		}
		return err
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
			c.ID, c.MetadataID, c.Position, c.MediaID, orNull(string(c.Modality)), c.Seed, orNull(clean(c.RevisedPrompt)), s.stampNow(), owner)
		if err != nil {
			return err
		}
		kept, err = one(ctx, tx, contentColumns, results(owner).where("metadata_id = ?", c.MetadataID).where("position = ?", c.Position))
		return err
	})
	return kept, err
}

// ContentGeneration returns a row with its results.
func (s contents) ContentGeneration(ctx context.Context, owner, id string) (ledger.ContentGeneration, []ledger.GeneratedContent, error) {
	g, err := read(ctx, s.db, "read content generation "+id, generationColumns, generations(owner).where("id = ?", id))
	if err != nil {
		return g, nil, err
	}
	list, err := readAll(ctx, s.db, "read generated content", contentColumns, from("generated_content").where("metadata_id = ?", id).orderBy("position"))
	return g, list, err
}

// ContentGenerationOfRequest returns the row of a click.
func (s contents) ContentGenerationOfRequest(ctx context.Context, owner, interactionID, requestID string) (ledger.ContentGeneration, error) {
	return read(ctx, s.db, "read the content generation of request "+requestID, generationColumns, generations(owner).where("interaction_id = ?", interactionID).where("request_id = ?", requestID))
}

// ListContentGenerations lists the rows of a workflow run.
func (s contents) ListContentGenerations(ctx context.Context, owner, workflowRunID string, p ledger.Page) (ledger.List[ledger.ContentGeneration], error) {
	return page(ctx, s.db, "list content generations", generationColumns, generations(owner).where("workflow_run_id = ?", workflowRunID).paged(p))
}

// OpenContentGenerations lists the unfinished rows of an interaction.
func (s contents) OpenContentGenerations(ctx context.Context, owner, interactionID string) ([]ledger.ContentGeneration, error) {
	return readAll(ctx, s.db, "list open content generations", generationColumns, generations(owner).where("interaction_id = ?", interactionID).and("finished_at IS NULL"))
}

// ListOpenContentGenerations lists the unfinished rows of all owners.
func (s contents) ListOpenContentGenerations(ctx context.Context, p ledger.Page) (ledger.List[ledger.ContentGeneration], error) {
	return page(ctx, s.db, "list open content generations", generationColumns, from("content_generation_metadata").and("finished_at IS NULL").orderBy("id").paged(p))
}

// GeneratedContent returns one result.
func (s contents) GeneratedContent(ctx context.Context, owner, id string) (ledger.GeneratedContent, error) {
	return read(ctx, s.db, "read generated content "+id, contentColumns, results(owner).where("id = ?", id))
}

// ContentOfMedia lists the results that consist of a media item.
func (s contents) ContentOfMedia(ctx context.Context, owner, mediaID string) ([]ledger.GeneratedContent, error) {
	return readAll(ctx, s.db, "read the content of media "+mediaID, contentColumns, results(owner).where("media_id = ?", mediaID))
}

// SelectContents records the choice of results.
func (s contents) SelectContents(ctx context.Context, owner, interactionID string, ids []string, at time.Time) error {
	const what = "select generated content"
	if err := need(what, "owner", owner, "interaction id", interactionID); err != nil {
		return err
	}
	return s.advance(ctx, what, func(ctx context.Context, tx *sql.Tx) error {
		for _, id := range ids {
			n, err := exec(ctx, tx, `UPDATE generated_content SET selected_at = COALESCE(selected_at, $1)
				WHERE id = $2 AND metadata_id IN (SELECT id FROM content_generation_metadata WHERE owner = $3 AND interaction_id = $4)`,
				stampText(at), id, owner, interactionID)
			if err := checkRowChanged(what, id, n, err); err != nil {
				return err
			}
		}
		return nil
	})
}
