package sqlstore

import (
	"context"

	"atelier/ledger"
	"atelier/media"
)

func edgeColumns(e *ledger.Edge) columns {
	return columns{
		{"id", &e.ID}, {"child_media_id", &e.ChildID}, {"ref", &e.ChildRef}, {"parent_media_id", str(&e.ParentID)}, {"parent_ref", &e.ParentRef},
		{"role", &e.Role}, {"run_id", str(&e.RunID)}, {"operation_id", str(&e.OperationID)}, {"created_at", timeCol{&e.CreatedAt}},
	}
}

// Provenance tells parents, children and trees of a record.
func (s items) Provenance(ctx context.Context, owner, mediaID string) (p ledger.Provenance, err error) {
	m, err := s.MediaRecord(ctx, owner, mediaID)
	if err != nil {
		return p, err
	}
	edges := func() *query {
		return from("media_lineage JOIN (SELECT id AS child, ref, deleted_at FROM media) c ON c.child = child_media_id").orderBy("id")
	}
	if p.Parents, err = all(ctx, s.read, edgeColumns, edges().where("child_media_id = ?", m.ID)); err != nil {
		return p, s.failure("read lineage", err)
	}
	children := edges().where("parent_media_id = ?", m.ID).and("child_media_id <> parent_media_id").and("deleted_at IS NULL")
	if p.Children, err = all(ctx, s.read, edgeColumns, children); err != nil {
		return p, s.failure("read lineage", err)
	}
	p.Trees, err = all(ctx, s.read, func(u *ledger.TreeUse) columns {
		return columns{
			{"tree", &u.Tree}, {"created_at", timeCol{&u.CreatedAt}},
			{`(SELECT MAX(d.conversation_id) FROM conversation_details d
				JOIN conversations c ON c.id = d.conversation_id WHERE d.run_id = tree AND c.deleted_at IS NULL)`, str(&u.Conversation)},
		}
	}, from(`(SELECT tree_id AS tree, created_at, '' AS place FROM media WHERE id = $1
		UNION ALL SELECT tree_id, created_at, id FROM media_grants WHERE media_id = $1) uses`, m.ID).orderBy("place"))
	return p, s.failure("read trees of media", err)
}

// parentsOf lists what an item was made from.
func parentsOf(ctx context.Context, db querier, mediaID string) ([]media.Parent, error) {
	return all(ctx, db, func(p *media.Parent) columns { return columns{{"parent_ref", &p.Ref}, {"role", &p.Role}} },
		from(`(SELECT parent_ref, role, MIN(id) AS first FROM media_lineage
			WHERE child_media_id = $1 AND role <> 'same_bytes' GROUP BY parent_ref, role) parents`, mediaID).orderBy("first"))
}
