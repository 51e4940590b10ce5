package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"math"

	"atelier/ledger"
	"atelier/media"
)

// Record saves the record of an item, or grants the record of another tree, together with its prompt-run media row and
// its lineage in one commit. The record comes first: a failure to save a lineage or link row is logged and does not
// affect it.
func (s items) Record(ctx context.Context, o media.Output) (media.Output, error) {
	const what = "record media"
	scope := media.ScopeOf(ctx)
	if scope.Owner == "" || scope.Tree == "" {
		return o, media.Errorf(media.CodeForbidden, "record media %s: the context has no owner or run tree: set them with media.WithScope", o)
	}
	if o.Digest.IsZero() || o.Ref == "" {
		return o, media.Errorf(media.CodeInvalid, "record media %s: store its bytes first", o)
	}
	o.Origin.AgentPath = cmp.Or(o.Origin.AgentPath, scope.AgentPath)
	o.Origin.Operation = cmp.Or(o.Origin.Operation, scope.Operation)
	o.Origin.Direction = cmp.Or(o.Origin.Direction, "output")
	o.Label = media.ClipLabel(o.Label)
	saved := o
	err := s.commit(ctx, what, func(ctx context.Context, tx *sql.Tx) error {
		if err := s.lock(ctx, tx, treeLock(scope)); err != nil {
			return err
		}
		have, err := findByDigest(ctx, tx, scope, o.Digest)
		again := err == nil
		granted := false
		if errors.Is(err, sql.ErrNoRows) {
			have, granted, err = s.admit(ctx, tx, scope, o)
		}
		if err != nil {
			return err
		}
		saved = have.Output
		if !granted {
			saved.Lineage = o.Lineage
		}
		if have.Tree != scope.Tree { // its use in this tree
			saved.Origin.Direction, saved.Promoted = o.Origin.Direction, false
		}
		known := granted || o.ID == have.ID
		var parents []media.Parent
		if again && !known {
			parents = append(parents, media.Parent{Ref: have.Ref, Role: "same_bytes"})
		}
		if !known {
			parents = append(parents, o.Lineage...)
		}
		for _, p := range parents {
			if err := s.attempt(ctx, tx, "lineage of "+have.String(), func() error {
				return s.insertEdge(ctx, tx, scope, have, p)
			}); err != nil {
				return err
			}
		}
		return s.attempt(ctx, tx, "prompt-run media "+o.String(), func() error {
			if again {
				return s.linkPrompt(ctx, tx, scope, have, o.Origin.Direction)
			}
			_, err := s.insertLink(ctx, tx, scope, have, o.Origin.Direction)
			return err
		})
	})
	if err != nil {
		return o, err
	}
	return saved, nil
}

// treeLock names the lock that a transaction holds while it looks up an item of a tree, or the last position in one of
// its lists, and adds a row.
func treeLock(scope media.Scope) string { return "tree " + scope.Owner + " " + scope.Tree }

// inTree is the condition under which an item is known in the tree $2: it was recorded there, or granted to the tree.
const inTree = `(tree_id = $2 OR id IN (SELECT media_id FROM media_grants WHERE media_grants.tree_id = $2))`

func findByDigest(ctx context.Context, tx *sql.Tx, scope media.Scope, d media.Digest) (ledger.Record, error) {
	find := func(condition string) (ledger.Record, error) {
		return one(ctx, tx, recordColumns, owned("media", scope.Owner).where(condition, scope.Tree).where("digest = ?", d.String()).and("deleted_at IS NULL").orderBy("id"))
	}
	m, err := find("tree_id = ?")
	if errors.Is(err, sql.ErrNoRows) {
		m, err = find("id IN (SELECT media_id FROM media_grants WHERE media_grants.tree_id = ?)")
	}
	return m, err
}

// admit adds an unknown item to a tree: as a grant if the item has a record in another tree, otherwise as a record.
func (s items) admit(ctx context.Context, tx *sql.Tx, scope media.Scope, o media.Output) (have ledger.Record, granted bool, err error) {
	var other string
	err = tx.QueryRowContext(ctx, `SELECT digest FROM media
		WHERE owner = $1 AND `+inTree+` AND ref = $3 AND deleted_at IS NULL LIMIT 1`,
		scope.Owner, scope.Tree, string(o.Ref)).Scan(&other)
	if err == nil {
		return have, false, media.Errorf(media.CodeRefCollision,
			"two different items of this run have the same ref %s: generate this one again with a small change", o.Ref)
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return have, false, err
	}
	if o.ID == "" && o.Origin.Direction == "input" { // the same file may have been given to another tree
		err = tx.QueryRowContext(ctx, `SELECT id FROM media WHERE owner = $1 AND digest = $2 AND direction = 'input'
			AND COALESCE(file_name, '') = $3 AND deleted_at IS NULL ORDER BY id LIMIT 1`,
			scope.Owner, o.Digest.String(), clean(o.FileName)).Scan(&o.ID)
		if optional(err) != nil {
			return have, false, err
		}
	}
	if o.ID != "" {
		have, err = s.grant(ctx, tx, scope, o)
		if err == nil || !errors.Is(err, sql.ErrNoRows) {
			return have, err == nil, err
		}
	}
	if err := s.insertBlob(ctx, tx, o.Blob, o.Origin.Operation); err != nil {
		return have, false, err
	}
	m := ledger.Record{Output: o, Owner: scope.Owner, Tree: scope.Tree, Run: scope.Run, UpdatedAt: s.cfg.Now()}
	m.ID, m.CreatedAt, m.DurationSeconds = s.cfg.NewID(), m.UpdatedAt, math.Round(o.DurationSeconds*1000)/1000
	names, args, err := recordColumns(&m).written()
	if err != nil {
		return have, false, err
	}
	var saved ledger.Record
	c := recordColumns(&saved)
	err = tx.QueryRowContext(ctx, insertSQL("media", names)+" RETURNING "+c.names(), args...).Scan(c.targets()...)
	return saved, false, err
}

// grant grants an item of another tree to this one. The error is sql.ErrNoRows if the owner has no such item with this
// id.
func (s items) grant(ctx context.Context, tx *sql.Tx, scope media.Scope, o media.Output) (ledger.Record, error) {
	have, err := one(ctx, tx, recordColumns, recordOf(scope.Owner, o.ID).where("digest = ?", o.Digest.String()))
	if err != nil {
		return have, err
	}
	if !have.DeletedAt.IsZero() {
		return have, media.Errorf(media.CodeNotFound, "the media item %s was deleted", o.Ref)
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO media_grants (id, tree_id, media_id, created_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (tree_id, media_id) DO NOTHING`, s.cfg.NewID(), scope.Tree, have.ID, s.stampNow()); err != nil {
		return have, err
	}
	have.Lineage, err = all(ctx, tx, func(p *media.Parent) columns { return columns{{"parent_ref", &p.Ref}, {"role", &p.Role}} },
		from(`(SELECT parent_ref, role, MIN(id) AS first FROM media_lineage
			WHERE child_media_id = $1 AND role <> 'same_bytes' GROUP BY parent_ref, role) parents`, have.ID).orderBy("first"))
	return have, err
}

func (s items) insertEdge(ctx context.Context, tx *sql.Tx, scope media.Scope, child ledger.Record, p media.Parent) error {
	var parent sql.NullString
	err := tx.QueryRowContext(ctx, `SELECT id FROM media WHERE owner = $1 AND `+inTree+` AND ref = $3
		ORDER BY CASE WHEN deleted_at IS NULL THEN 0 ELSE 1 END, id DESC LIMIT 1`,
		scope.Owner, scope.Tree, string(p.Ref)).Scan(&parent)
	if optional(err) != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO media_lineage (id, child_media_id, parent_media_id, parent_ref, role, run_id, operation_id, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`, s.cfg.NewID(), child.ID, parent, clean(string(p.Ref)), clean(p.Role),
		orNull(scope.Run), orNull(scope.Operation), s.stampNow())
	return err
}

// linkPrompt adds the item to the run's prompt-run media, once per run, step, prompt run and direction. Code that wraps
// a call records the call's items again, with their ids but without its prompt run; this adds no link.
func (s items) linkPrompt(ctx context.Context, tx *sql.Tx, scope media.Scope, m ledger.Record, direction string) error {
	var n int
	err := tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM prompt_run_media
		WHERE media_id = $1 AND direction = $2 AND COALESCE(run_id, '') = $3
		AND (COALESCE(step_id, '') = $4 OR $4 = '') AND (COALESCE(prompt_run_id, '') = $5 OR $5 = '')`,
		m.ID, direction, scope.Run, scope.Step, scope.PromptRun).Scan(&n)
	if err != nil || n > 0 {
		return err
	}
	_, err = s.insertLink(ctx, tx, scope, m, direction)
	return err
}

// nextPlace returns the display order after the last of the selected rows.
func nextPlace(ctx context.Context, tx *sql.Tx, q *query) (int, error) {
	return one(ctx, tx, func(n *int) columns { return columns{{"COALESCE(MAX(display_order), 0) + 1", n}} }, q)
}

func (s items) insertLink(ctx context.Context, tx *sql.Tx, scope media.Scope, m ledger.Record, direction string) (string, error) {
	// Outside of a run, items are counted within their operation.
	within := from("prompt_run_media").where("run_id = ?", scope.Run)
	if scope.Run == "" {
		within = from("prompt_run_media").where("operation_id = ?", scope.Operation).and("run_id IS NULL")
	}
	place, err := nextPlace(ctx, tx, within)
	if err != nil {
		return "", err
	}
	l := ledger.Link{
		ID: s.cfg.NewID(), MediaID: m.ID, RunID: scope.Run, PromptRunID: scope.PromptRun, StepID: scope.Step, OperationID: scope.Operation,
		Direction: direction, Snapshot: s.snapshot(m, place),
	}
	row := append(promptLinkColumns(&l), column{"owner", &m.Owner})
	return l.ID, row.insert(ctx, tx, "prompt_run_media", "")
}
