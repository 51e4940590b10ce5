package run

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"atelier/ledger"
	"atelier/media"
)

// unrecorded are items of a run that does not exist yet. Their records are saved with its state, in
// one commit; until then they have temporary ids.
type unrecorded struct {
	newID func() string

	mu    sync.Mutex // guards items
	items []item
}

// item is one of them as recorded, and its scope.
type item struct {
	scope  media.Scope
	output media.Output
	id     string
}

var _ media.Recorder = (*unrecorded)(nil)

// Record notes an item as a ledger would; the same bytes are the same item.
func (u *unrecorded) Record(ctx context.Context, o media.Output) (media.Output, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	scope := media.ScopeOf(ctx)
	o.Origin.AgentPath = cmp.Or(o.Origin.AgentPath, scope.AgentPath)
	o.Origin.Operation = cmp.Or(o.Origin.Operation, scope.Operation)
	o.Origin.Direction = cmp.Or(o.Origin.Direction, "output")
	next := item{scope: scope, output: o}
	at := slices.IndexFunc(u.items, func(i item) bool { return i.output.Digest == o.Digest })
	if at >= 0 {
		next.id, o = u.items[at].id, u.items[at].output
	} else {
		next.id = u.newID()
	}
	u.items = append(u.items, next)
	o.ID = next.id
	return o, nil
}

// save saves the records, and returns the temporary ids, each before the id of the record. It may
// run again, as a commit may.
func (u *unrecorded) save(ctx context.Context, to ledger.Store) (ids []string, err error) {
	u.mu.Lock()
	items := slices.Clone(u.items)
	u.mu.Unlock()
	for _, i := range items {
		rec, err := to.Record(media.WithScope(ctx, i.scope), i.output)
		if err != nil {
			return nil, err
		}
		ids = append(ids, i.id, rec.ID)
	}
	return ids, nil
}
