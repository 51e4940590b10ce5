package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"

	"atelier/ledger"
	"atelier/media"
)

const recordColumns = `id, owner, tree_id, run_id, digest, ref, modality, mime_type, file_name, size_bytes,
	width, height, orientation, frames, duration_seconds, label, description, promoted, partial,
	direction, source, agent_path, operation_id, metadata, thumbnail_digest, created_at, updated_at, deleted_at`

// recordID is the id of the record that the id $2 means: its own, or one that a copy of it had
// in a database of an earlier version.
const recordID = `COALESCE((SELECT media_id FROM media_grants WHERE media_grants.id = $2), $2)`

func scanRecord(from row) (ledger.Record, error) {
	var m ledger.Record
	err := from.Scan(&m.ID, &m.Owner, &m.Tree, str(&m.Run), digestCol{&m.Digest}, &m.Ref, &m.Modality,
		&m.MIMEType, str(&m.FileName), &m.SizeBytes, num(&m.Width), num(&m.Height), num(&m.Orientation),
		num(&m.Frames), num(&m.DurationSeconds), str(&m.Label), str(&m.Description), &m.Promoted, &m.Partial,
		str(&m.Origin.Direction), str(&m.Origin.Source), str(&m.Origin.AgentPath), str(&m.Origin.Operation),
		jsonCol{&m.Metadata}, digestCol{&m.ThumbnailDigest}, timeCol{&m.CreatedAt}, timeCol{&m.UpdatedAt}, timeCol{&m.DeletedAt})
	return m, err
}

// MediaRecord reads one record.
func (s items) MediaRecord(ctx context.Context, owner, id string) (ledger.Record, error) {
	if err := needOwner(owner); err != nil {
		return ledger.Record{}, err
	}
	m, err := scanRecord(s.read.QueryRowContext(ctx, `SELECT `+recordColumns+
		` FROM media WHERE owner = $1 AND id = `+recordID+` AND deleted_at IS NULL`, owner, id))
	return m, s.failure("read media "+id, err)
}

// ListMedia lists records, newest first.
func (s items) ListMedia(ctx context.Context, owner string, q ledger.MediaQuery) (ledger.List[ledger.Record], error) {
	if err := needOwner(owner); err != nil {
		return ledger.List[ledger.Record]{}, err
	}
	if s.find != nil && searchable(q) {
		list, err := s.searchMedia(ctx, owner, q)
		return list, s.failure("list media", err)
	}
	list, err := s.pageMedia(ctx, owner, q, nil)
	return list, s.failure("list media", err)
}

// pageMedia lists the records that the query asks for and that are among some, if narrow adds a condition.
func (s items) pageMedia(ctx context.Context, owner string, q ledger.MediaQuery, narrow func(*query)) (ledger.List[ledger.Record], error) {
	state := "deleted_at IS NULL"
	if q.Deleted {
		state = "deleted_at IS NOT NULL"
	}
	if q.Modality != "" {
		m, err := media.ParseModality(string(q.Modality))
		if err != nil {
			return ledger.List[ledger.Record]{}, err
		}
		// A literal, because the way to few rows is not that to many, and PostgreSQL plans for any value of a parameter.
		state += " AND modality = '" + string(m) + "'"
	}
	sel := selectFrom(recordColumns, "media", state+" AND owner = ?", owner)
	for _, c := range []struct{ condition, value string }{
		{"id IN (SELECT m.id FROM media m WHERE m.tree_id = ? UNION ALL SELECT media_id FROM media_grants g WHERE g.tree_id = ?)", q.Tree},
		{"run_id = ?", q.Run},
		{"ref = ?", string(q.Ref)},
		{`(LOWER(label) LIKE ? ESCAPE '\' OR LOWER(description) LIKE ? ESCAPE '\' OR LOWER(file_name) LIKE ? ESCAPE '\')`, like(q.Text)},
		{`id IN (SELECT m.id FROM media m JOIN conversation_details d ON d.run_id = m.tree_id WHERE d.conversation_id = ?
			UNION SELECT g.media_id FROM media_grants g JOIN conversation_details d ON d.run_id = g.tree_id WHERE d.conversation_id = ?)`, q.Conversation},
		{"substr(ref, 1, " + itoa(int64(len(q.RefPrefix))) + ") = ?", q.RefPrefix},
	} {
		if c.value != "" {
			sel.where(c.condition, c.value)
		}
	}
	if narrow != nil {
		narrow(sel)
	}
	return page(ctx, s.read, sel, q.Page, order[ledger.Record]{
		key: "id", descending: true, scan: scanRecord, next: func(m ledger.Record) string { return m.ID },
	})
}

// LabelMedia changes label and description.
func (s items) LabelMedia(ctx context.Context, owner, id, label, description string) error {
	if err := needOwner(owner); err != nil {
		return err
	}
	return s.commit(ctx, "label media", func(ctx context.Context, tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, `UPDATE media SET label = COALESCE($3, label),
			description = COALESCE($4, description), updated_at = $5
			WHERE owner = $1 AND id = `+recordID+` AND deleted_at IS NULL`,
			owner, id, prose(clip(label)), prose(description), s.stampNow())
		if err != nil {
			return err
		}
		return changed("label media", id, res)
	})
}

// PromoteMedia saves the run's chosen items, each in its own commit.
func (s items) PromoteMedia(ctx context.Context, owner, runID string, chosen []media.Output) ([]string, error) {
	r, err := runs(s).Run(context.WithoutCancel(ctx), owner, runID)
	if err != nil {
		return nil, err
	}
	var warnings []string
	for _, o := range chosen {
		err := s.advance(ctx, "promote media", func(ctx context.Context, tx *sql.Tx) error {
			return s.promote(ctx, tx, r, o)
		})
		switch code := media.CodeOf(err); {
		case err == nil:
		case code == media.CodeDiskFull || code == media.CodeForbidden:
			return warnings, err
		default:
			warnings = append(warnings, fmt.Sprintf("%s was not saved as part of the answer: %v", o, err))
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
	source, err := s.sourceLink(ctx, tx, scope, m)
	if err != nil {
		return err
	}
	var last int
	if err := tx.QueryRowContext(ctx, `SELECT COALESCE(MAX(display_order), 0) FROM agent_run_media
		WHERE run_id = $1`, r.ID).Scan(&last); err != nil {
		return err
	}
	m.Label, m.Description = first(clip(o.Label), m.Label), first(o.Description, m.Description)
	now := s.stampNow()
	var v values
	v.set("id", s.cfg.NewID())
	v.set("owner", r.Owner)
	v.set("media_id", m.ID)
	v.set("run_id", r.ID)
	v.set("source_prompt_run_media_id", source)
	facts(&v, m.Output)
	v.set("display_order", last+1)
	v.set("thumbnail_digest", text(m.ThumbnailDigest.String()))
	v.set("created_at", now)
	v.set("updated_at", now)
	if _, err := tx.ExecContext(ctx, v.insertSQL("agent_run_media")+
		" ON CONFLICT (run_id, media_id) DO NOTHING", v.args...); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `UPDATE media SET promoted = 1, label = $1, description = $2, updated_at = $3
		WHERE id = $4`, prose(m.Label), prose(m.Description), now, m.ID)
	return err
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// sourceLink finds the prompt-run media row behind an item: the run's own, else the
// one of the run of its tree that made it, else a new one.
func (s items) sourceLink(ctx context.Context, tx *sql.Tx, scope media.Scope, m ledger.Record) (string, error) {
	var id string
	err := tx.QueryRowContext(ctx, `SELECT id FROM prompt_run_media WHERE media_id = $1
		ORDER BY CASE WHEN run_id = $2 THEN 0 ELSE 1 END, id LIMIT 1`, m.ID, scope.Run).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return s.insertLink(ctx, tx, scope, m, first(m.Origin.Direction, "output"))
	}
	return id, err
}

const linkColumns = `modality, mime_type, file_name, size_bytes, width, height, duration_seconds, label,
	description, metadata, display_order, thumbnail_digest, created_at, updated_at, id, media_id, run_id`

func linkTargets(l *ledger.Link) []any {
	return []any{
		&l.Modality, &l.MIMEType, str(&l.FileName), &l.SizeBytes, num(&l.Width), num(&l.Height),
		num(&l.DurationSeconds), str(&l.Label), str(&l.Description),
		jsonCol{&l.Metadata},
		&l.DisplayOrder,
		digestCol{&l.ThumbnailDigest},
		timeCol{&l.CreatedAt},
		timeCol{&l.UpdatedAt},
		&l.ID, &l.MediaID, str(&l.RunID),
	}
}

var byDisplayOrder = func(l ledger.Link) string { return strconv.Itoa(l.DisplayOrder) }

// ListPromptMedia lists what a run made or saw.
func (s items) ListPromptMedia(ctx context.Context, owner, runID string, p ledger.Page) (ledger.List[ledger.Link], error) {
	if err := s.ownsRun(ctx, owner, runID); err != nil {
		return ledger.List[ledger.Link]{}, err
	}
	sel := selectFrom(linkColumns+", prompt_run_id, step_id, operation_id, direction", "prompt_run_media", "run_id = ?", runID)
	list, err := page(ctx, s.read, sel, p, order[ledger.Link]{
		key: "display_order", numeric: true, next: byDisplayOrder,
		scan: func(from row) (l ledger.Link, err error) {
			err = from.Scan(append(linkTargets(&l), str(&l.PromptRunID), str(&l.StepID), str(&l.OperationID), &l.Direction)...)
			return l, err
		},
	})
	return list, s.failure("list prompt-run media", err)
}

// ListAgentMedia lists what a run chose for its answer.
func (s items) ListAgentMedia(ctx context.Context, owner, runID string, p ledger.Page) (ledger.List[ledger.Link], error) {
	if err := s.ownsRun(ctx, owner, runID); err != nil {
		return ledger.List[ledger.Link]{}, err
	}
	sel := selectFrom(linkColumns+", source_prompt_run_media_id", "agent_run_media", "run_id = ?", runID)
	list, err := page(ctx, s.read, sel, p, order[ledger.Link]{
		key: "display_order", numeric: true, next: byDisplayOrder,
		scan: func(from row) (l ledger.Link, err error) {
			err = from.Scan(append(linkTargets(&l), &l.SourceID)...)
			return l, err
		},
	})
	return list, s.failure("list agent-run media", err)
}
