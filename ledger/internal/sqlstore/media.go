package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"

	"atelier/ledger"
	"atelier/media"
)

func recordColumns(m *ledger.Record) columns {
	return columns{
		{"id", &m.ID},
		{"owner", &m.Owner},
		{"tree_id", &m.Tree},
		{"run_id", nullable(&m.Run)},
		{"digest", digestCol{&m.Digest}},
		{"ref", &m.Ref},
		{"modality", &m.Modality},
		{"mime_type", &m.MIMEType},
		{"file_name", prose(&m.FileName)},
		{"size_bytes", &m.SizeBytes},
		{"width", nullable(&m.Width)},
		{"height", nullable(&m.Height)},
		{"orientation", nullable(&m.Orientation)},
		{"frames", nullable(&m.Frames)},
		{"duration_seconds", nullable(&m.DurationSeconds)},
		{"label", prose(&m.Label)},
		{"description", prose(&m.Description)},
		{"promoted", flagCol{&m.Promoted}},
		{"partial", flagCol{&m.Partial}},
		{"direction", nullable(&m.Origin.Direction)},
		{"source", prose(&m.Origin.Source)},
		{"agent_path", nullable(&m.Origin.AgentPath)},
		{"operation_id", nullable(&m.Origin.Operation)},
		{"metadata", jsonCol{&m.Metadata}},
		{"created_at", timeCol{&m.CreatedAt}},
		{"updated_at", timeCol{&m.UpdatedAt}},
		{"deleted_at", timeCol{&m.DeletedAt}},
	}
}

// recordID is the id of the record that the id $2 identifies: its own id, or the id of a copy of it in a database of an
// earlier version.
const recordID = `COALESCE((SELECT media_id FROM media_grants WHERE media_grants.id = $2), $2)`

// recordOf selects the record that an id identifies.
func recordOf(owner, id string) *query { return owned("media", owner).where("id = "+recordID, id) }

// MediaRecord returns one record.
func (s items) MediaRecord(ctx context.Context, owner, id string) (ledger.Record, error) {
	return read(ctx, s.db, "read media "+id, recordColumns, recordOf(owner, id).and("deleted_at IS NULL"))
}

// ListMedia lists records, newest first.
func (s items) ListMedia(ctx context.Context, owner string, q ledger.MediaQuery) (ledger.List[ledger.Record], error) {
	// Other lists than searches of all media of an owner read few records.
	if s.find != nil && q.Text != "" && q.Tree == "" && q.Run == "" && q.Ref == "" && q.Conversation == "" && q.RefPrefix == "" {
		list, err := s.searchMedia(ctx, owner, q)
		return list, s.failure(listMedia, err)
	}
	return page(ctx, s.db, listMedia, recordColumns, s.mediaQuery(owner, q))
}

const listMedia = "list media"

// mediaQuery selects the records of a page.
func (s items) mediaQuery(owner string, q ledger.MediaQuery) *query {
	sel := owned("media", owner).orderBy("id DESC").paged(q.Page)
	if q.Deleted {
		sel.and("deleted_at IS NOT NULL")
	} else {
		sel.and("deleted_at IS NULL")
	}
	if q.Modality != "" {
		m, err := media.ParseModality(string(q.Modality))
		sel.err = cmp.Or(sel.err, err)
		// A literal, because the plans for few and many rows differ, and PostgreSQL plans for any parameter value.
		sel.and("modality = '" + string(m) + "'")
	}
	for _, c := range []struct{ condition, value string }{
		{"id IN (SELECT m.id FROM media m WHERE m.tree_id = ? UNION ALL SELECT media_id FROM media_grants g WHERE g.tree_id = ?)", q.Tree},
		{"run_id = ?", q.Run},
		{"ref = ?", string(q.Ref)},
		{`id IN (SELECT m.id FROM media m JOIN conversation_details d ON d.run_id = m.tree_id WHERE d.conversation_id = ?
			UNION SELECT g.media_id FROM media_grants g JOIN conversation_details d ON d.run_id = g.tree_id WHERE d.conversation_id = ?)`, q.Conversation},
		{"substr(ref, 1, " + strconv.Itoa(len(q.RefPrefix)) + ") = ?", q.RefPrefix},
	} {
		if c.value != "" {
			sel.where(c.condition, c.value)
		}
	}
	if q.Text != "" {
		contains, pattern := s.dialect.Contains(q.Text)
		sel.where("("+contains("label")+" OR "+contains("description")+" OR "+contains("file_name")+")", pattern)
	}
	return sel
}

// LabelMedia changes label and description.
func (s items) LabelMedia(ctx context.Context, owner, id string, label, description *string) error {
	if err := needOwner(owner); err != nil {
		return err
	}
	if label != nil {
		label = new(clean(media.ClipLabel(*label)))
	}
	if description != nil {
		description = new(clean(*description))
	}
	return s.change(ctx, "label media", id, `UPDATE media SET label = COALESCE($3, label),
		description = COALESCE($4, description), updated_at = $5
		WHERE owner = $1 AND id = `+recordID+` AND deleted_at IS NULL`,
		owner, id, label, description, s.stampNow())
}

// PromoteMedia saves the run's chosen items, each in its own commit.
func (s items) PromoteMedia(ctx context.Context, owner, runID string, chosen []media.Output) ([]string, error) {
	r, err := runs(s).Run(context.WithoutCancel(ctx), owner, runID)
	if err != nil {
		return nil, err
	}
	return saveEach(chosen, "saved as part of the answer", func(o media.Output) error {
		return s.advance(ctx, "promote media", func(ctx context.Context, tx *sql.Tx) error {
			return s.promote(ctx, tx, r, o)
		})
	})
}

// saveEach saves items one by one. An item that cannot be saved produces a warning; only a failure that affects all of
// them is an error.
func saveEach(items []media.Output, done string, save func(media.Output) error) (warnings []string, err error) {
	for _, o := range items {
		err := save(o)
		switch code := media.CodeOf(err); {
		case err == nil:
		case code == media.CodeDiskFull || code == media.CodeForbidden:
			return warnings, err
		default:
			warnings = append(warnings, fmt.Sprintf("%s was not %s: %v", o, done, err))
		}
	}
	return warnings, nil
}

func (s items) promote(ctx context.Context, tx *sql.Tx, r ledger.Run, o media.Output) error {
	scope := media.Scope{Owner: r.Owner, Tree: r.Tree, Run: r.ID}
	if err := s.lock(ctx, tx, treeLock(scope)); err != nil {
		return err
	}
	m, err := findByDigest(ctx, tx, scope, o.Digest)
	if errors.Is(err, sql.ErrNoRows) {
		return media.Errorf(media.CodeNotFound, "it has no media record in this run tree")
	}
	if err != nil {
		return err
	}
	// The source of the item is the run's own prompt-run media row, else that of another run, else a new row.
	var source string
	err = tx.QueryRowContext(ctx, `SELECT id FROM prompt_run_media WHERE media_id = $1
		ORDER BY CASE WHEN run_id = $2 THEN 0 ELSE 1 END, id LIMIT 1`, m.ID, r.ID).Scan(&source)
	if errors.Is(err, sql.ErrNoRows) {
		source, err = s.insertLink(ctx, tx, scope, m, cmp.Or(m.Origin.Direction, "output"))
	}
	if err != nil {
		return err
	}
	place, err := nextPlace(ctx, tx, from("agent_run_media").where("run_id = ?", r.ID))
	if err != nil {
		return err
	}
	m.Label, m.Description = cmp.Or(media.ClipLabel(o.Label), m.Label), cmp.Or(o.Description, m.Description)
	l := ledger.Link{ID: s.cfg.NewID(), MediaID: m.ID, RunID: r.ID, SourceID: source, Snapshot: s.snapshot(m, place)}
	row := append(agentLinkColumns(&l), column{"owner", &r.Owner})
	if err := row.insert(ctx, tx, "agent_run_media", " ON CONFLICT (run_id, media_id) DO NOTHING"); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `UPDATE media SET promoted = 1, label = $1, description = $2, updated_at = $3
		WHERE id = $4`, orNull(clean(m.Label)), orNull(clean(m.Description)), stampText(l.UpdatedAt), m.ID)
	return err
}

// snapshot returns the current state of a record with a position in a list.
func (s *db) snapshot(m ledger.Record, place int) ledger.Snapshot {
	now := s.cfg.Now()
	return ledger.Snapshot{
		Modality: m.Modality, MIMEType: m.MIMEType, FileName: m.FileName, SizeBytes: m.SizeBytes, Width: m.Width, Height: m.Height,
		DurationSeconds: m.DurationSeconds, Label: m.Label, Description: m.Description, Metadata: m.Metadata,
		DisplayOrder: place, CreatedAt: now, UpdatedAt: now,
	}
}

func snapshotColumns(n *ledger.Snapshot) columns {
	return columns{
		{"modality", &n.Modality},
		{"mime_type", &n.MIMEType},
		{"file_name", prose(&n.FileName)},
		{"size_bytes", &n.SizeBytes},
		{"width", nullable(&n.Width)},
		{"height", nullable(&n.Height)},
		{"duration_seconds", nullable(&n.DurationSeconds)},
		{"label", prose(&n.Label)},
		{"description", prose(&n.Description)},
		{"metadata", jsonCol{&n.Metadata}},
		{"display_order", &n.DisplayOrder},
		{"created_at", timeCol{&n.CreatedAt}},
		{"updated_at", timeCol{&n.UpdatedAt}},
	}
}

func promptLinkColumns(l *ledger.Link) columns {
	return append(snapshotColumns(&l.Snapshot), columns{
		{"id", &l.ID},
		{"media_id", &l.MediaID},
		{"run_id", nullable(&l.RunID)},
		{"prompt_run_id", nullable(&l.PromptRunID)},
		{"step_id", nullable(&l.StepID)},
		{"operation_id", nullable(&l.OperationID)},
		{"direction", &l.Direction},
	}...)
}

func agentLinkColumns(l *ledger.Link) columns {
	return append(snapshotColumns(&l.Snapshot), columns{
		{"id", &l.ID}, {"media_id", &l.MediaID}, {"run_id", &l.RunID}, {"source_prompt_run_media_id", &l.SourceID},
	}...)
}

// ListPromptMedia lists the items that a run made or saw.
func (s items) ListPromptMedia(ctx context.Context, owner, runID string, p ledger.Page) (ledger.List[ledger.Link], error) {
	return page(ctx, s.db, "list prompt-run media", promptLinkColumns, s.ofRun(ctx, "prompt_run_media", owner, runID).orderBy("display_order").paged(p))
}

// ListAgentMedia lists the items that a run chose for its answer.
func (s items) ListAgentMedia(ctx context.Context, owner, runID string, p ledger.Page) (ledger.List[ledger.Link], error) {
	return page(ctx, s.db, "list agent-run media", agentLinkColumns, s.ofRun(ctx, "agent_run_media", owner, runID).orderBy("display_order").paged(p))
}

// DeleteMedia leaves a tombstone.
func (s items) DeleteMedia(ctx context.Context, owner, id string) error {
	const what = "delete media"
	return s.commit(ctx, what, func(ctx context.Context, tx *sql.Tx) error {
		m, err := one(ctx, tx, recordColumns, recordOf(owner, id).and("deleted_at IS NULL"))
		if err != nil {
			return err
		}
		if err := unused(ctx, tx, m); err != nil {
			return err
		}
		n, err := exec(ctx, tx, `UPDATE media SET deleted_at = $1, updated_at = $1
			WHERE id = $2 AND deleted_at IS NULL`, s.stampNow(), m.ID)
		return checkRowChanged(what, id, n, err)
	})
}

// unused refuses an item of an unfinished run or operation.
func unused(ctx context.Context, tx *sql.Tx, m ledger.Record) error {
	const trees = ` IN (SELECT tree_id FROM media WHERE id = $1 UNION SELECT tree_id FROM media_grants WHERE media_id = $1)`
	for _, of := range []struct{ kind, command, rows string }{
		{"run", "runs", `agent_runs WHERE id` + trees + ` AND status IN ('running', 'paused')`},
		{"operation", "operations", `operations WHERE tree_id` + trees + ` AND finished_at IS NULL`},
	} {
		var id, status string
		err := tx.QueryRowContext(ctx, `SELECT id, status FROM `+of.rows+` ORDER BY id LIMIT 1`, m.ID).Scan(&id, &status)
		if err == nil {
			return media.Errorf(media.CodeConflict, "%s belongs to %s %s, which is %s: wait until it ends, or cancel it first (atelier %s cancel %[3]s)", m.Ref, of.kind, id, status, of.command)
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
	}
	return nil
}

// RestoreMedia removes the tombstone.
func (s items) RestoreMedia(ctx context.Context, owner, id string, since time.Time) error {
	return s.commit(ctx, "restore media", func(ctx context.Context, tx *sql.Tx) error {
		m, err := one(ctx, tx, recordColumns, recordOf(owner, id).and("deleted_at IS NOT NULL"))
		if err != nil {
			return err
		}
		if m.DeletedAt.Before(since) {
			return media.Errorf(media.CodeNotFound, "%s was deleted at %s, too long ago to be restored", m.Ref, stampText(m.DeletedAt))
		}
		scope := media.Scope{Owner: m.Owner, Tree: m.Tree}
		if err := s.lock(ctx, tx, treeLock(scope)); err != nil {
			return err
		}
		again, err := findByDigest(ctx, tx, scope, m.Digest)
		if err == nil {
			return media.Errorf(media.CodeConflict, "%s was made again in its run and is now %s: there is nothing to restore", m.Ref, again.ID)
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE media SET deleted_at = NULL, updated_at = $1 WHERE id = $2`, s.stampNow(), m.ID)
		return err
	})
}

func edgeColumns(e *ledger.Edge) columns {
	return columns{
		{"id", &e.ID},
		{"child_media_id", &e.ChildID},
		{"ref", &e.ChildRef},
		{"parent_media_id", nullable(&e.ParentID)},
		{"parent_ref", &e.ParentRef},
		{"role", &e.Role},
		{"run_id", nullable(&e.RunID)},
		{"operation_id", nullable(&e.OperationID)},
		{"created_at", timeCol{&e.CreatedAt}},
	}
}

// Provenance returns parents, children and trees of a record.
func (s items) Provenance(ctx context.Context, owner, mediaID string) (p ledger.Provenance, err error) {
	m, err := s.MediaRecord(ctx, owner, mediaID)
	if err != nil {
		return p, err
	}
	edges := func() *query {
		return from("media_lineage JOIN (SELECT id AS child, ref, deleted_at FROM media) c ON c.child = child_media_id").orderBy("id")
	}
	if p.Parents, err = readAll(ctx, s.db, "read lineage", edgeColumns, edges().where("child_media_id = ?", m.ID)); err != nil {
		return p, err
	}
	children := edges().where("parent_media_id = ?", m.ID).and("child_media_id <> parent_media_id").and("deleted_at IS NULL")
	if p.Children, err = readAll(ctx, s.db, "read lineage", edgeColumns, children); err != nil {
		return p, err
	}
	p.Trees, err = readAll(ctx, s.db, "read trees of media", func(u *ledger.TreeUse) columns {
		return columns{
			{"tree", &u.Tree},
			{"created_at", timeCol{&u.CreatedAt}},
			{`(SELECT MAX(d.conversation_id) FROM conversation_details d
				JOIN conversations c ON c.id = d.conversation_id WHERE d.run_id = tree AND c.deleted_at IS NULL)`, nullable(&u.Conversation)},
		}
	}, from(`(SELECT tree_id AS tree, created_at, '' AS place FROM media WHERE id = $1
		UNION ALL SELECT tree_id, created_at, id FROM media_grants WHERE media_id = $1) uses`, m.ID).orderBy("place"))
	return p, err
}
