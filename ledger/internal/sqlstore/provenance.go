package sqlstore

import (
	"context"

	"atelier/ledger"
	"atelier/media"
)

const edgeColumns = `l.id, l.child_media_id, c.ref, l.parent_media_id, l.parent_ref, l.role, l.run_id, l.operation_id, l.created_at`

func scanEdge(from row) (e ledger.Edge, err error) {
	err = from.Scan(&e.ID, &e.ChildID, &e.ChildRef, str(&e.ParentID), &e.ParentRef, &e.Role, str(&e.RunID),
		str(&e.OperationID), timeCol{&e.CreatedAt})
	return e, err
}

// Provenance tells parents, children and trees of a record.
func (s items) Provenance(ctx context.Context, owner, mediaID string) (p ledger.Provenance, err error) {
	m, err := s.MediaRecord(ctx, owner, mediaID)
	if err != nil {
		return p, err
	}
	edges := func(condition string) ([]ledger.Edge, error) {
		sel := selectFrom(edgeColumns, "media_lineage l JOIN media c ON c.id = l.child_media_id", condition, m.ID)
		sel.text.WriteString(" ORDER BY l.id")
		return collect(ctx, s.read, sel, scanEdge)
	}
	if p.Parents, err = edges("l.child_media_id = ?"); err != nil {
		return p, s.failure("read lineage", err)
	}
	if p.Children, err = edges("l.parent_media_id = ? AND l.child_media_id <> l.parent_media_id AND c.deleted_at IS NULL"); err != nil {
		return p, s.failure("read lineage", err)
	}
	trees := &query{args: []any{m.ID}}
	trees.text.WriteString(`SELECT tree, (SELECT MAX(d.conversation_id) FROM conversation_details d
			JOIN conversations c ON c.id = d.conversation_id WHERE d.run_id = tree AND c.deleted_at IS NULL), created_at
		FROM (SELECT tree_id AS tree, created_at, '' AS place FROM media WHERE id = $1
			UNION ALL SELECT tree_id, created_at, id FROM media_grants WHERE media_id = $1) uses ORDER BY place`)
	p.Trees, err = collect(ctx, s.read, trees, func(from row) (u ledger.TreeUse, err error) {
		err = from.Scan(&u.Tree, str(&u.Conversation), timeCol{&u.CreatedAt})
		return u, err
	})
	return p, s.failure("read trees of media", err)
}

// parentsOf lists what an item was made from.
func parentsOf(ctx context.Context, db querier, mediaID string) ([]media.Parent, error) {
	sel := selectFrom("parent_ref, role, MIN(id)", "media_lineage", "child_media_id = ? AND role <> 'same_bytes'", mediaID)
	sel.text.WriteString(" GROUP BY parent_ref, role ORDER BY 3")
	return collect(ctx, db, sel, func(from row) (p media.Parent, err error) {
		var id string
		err = from.Scan(&p.Ref, &p.Role, &id)
		return p, err
	})
}
