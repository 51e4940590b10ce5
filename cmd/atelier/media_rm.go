package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"atelier/ledger"
	"atelier/media"
	"atelier/media/blob"
)

type mediaRmCmd struct {
	Items []string `arg:"" name:"item" help:"Refs (img-7k3m9q2x), record ids, the starts of ids, or last."`
	Tree  string   `name:"run" help:"The run that the refs belong to. Required if several items have the same ref." placeholder:"ID|last"`
	Undo  bool     `help:"Restore items that were deleted within the last week."`
	JSON  bool     `help:"Print JSON."`
}

// removedView is an item that was deleted or restored.
type removedView struct {
	ID    string    `json:"id"`
	Ref   media.Ref `json:"ref"`
	Label string    `json:"label,omitempty"`
	// Until is when a deleted item can no longer be restored; zero for a restored one.
	Until time.Time `json:"restorable_until,omitzero"`
}

// Run deletes or restores items: all of them or none.
func (c *mediaRmCmd) Run(w *world) error {
	return w.withStores(func(s *stores) (err error) {
		if c.Tree, err = s.treeID(w.ctx, c.Tree); err != nil {
			return err
		}
		var records []ledger.Record
		for _, name := range c.Items {
			r, err := c.one(w.ctx, s, name)
			if err != nil {
				return err
			}
			if !slices.ContainsFunc(records, func(named ledger.Record) bool { return named.ID == r.ID }) {
				records = append(records, r)
			}
		}
		now := time.Now() //nolint:forbidigo // the clock of the command line
		err = s.Ledger.InTransaction(w.ctx, func(ctx context.Context) error {
			for _, r := range records {
				var err error
				if c.Undo {
					err = s.Ledger.RestoreMedia(ctx, owner, r.ID, now.Add(-blob.DefaultGrace))
				} else {
					err = s.Ledger.DeleteMedia(ctx, owner, r.ID)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		for i := 0; c.Undo && i < len(records); i++ {
			if records[i], err = s.Ledger.MediaRecord(w.ctx, owner, records[i].ID); err != nil {
				return err
			}
		}
		return c.print(w, records, now.Add(blob.DefaultGrace))
	})
}

// one returns the item that a name means. The same bytes, made in several runs, are several items.
func (c *mediaRmCmd) one(ctx context.Context, s *stores, name string) (ledger.Record, error) {
	q := ledger.MediaQuery{Tree: c.Tree, Deleted: c.Undo}
	found, err := s.mediaNamed(ctx, q, name)
	if err != nil {
		return ledger.Record{}, err
	}
	if len(found) == 1 {
		return found[0], nil
	}
	var ids []string
	for _, r := range found {
		ids = append(ids, r.ID)
	}
	e := media.Errorf(media.CodeInvalid, "%d items have the ref %s: use one of their ids: %s", len(ids), found[0].Ref, strings.Join(ids, ", "))
	e.Valid = ids
	return ledger.Record{}, e
}

func (c *mediaRmCmd) print(w *world, records []ledger.Record, until time.Time) error {
	views := []removedView{}
	for _, r := range records {
		v := removedView{ID: r.ID, Ref: r.Ref, Label: r.Label}
		if !c.Undo {
			v.Until = until.UTC()
		}
		views = append(views, v)
	}
	return w.print(ledger.List[removedView]{Items: views}, func() {
		for _, v := range views {
			if c.Undo {
				w.line("restored %s  %s", v.Ref, cell(v.Label))
				continue
			}
			w.line("deleted %s  %s", v.Ref, cell(v.Label))
			w.note("to restore it before %s: atelier media rm --undo %s; after that, media gc deletes its bytes", localTime(until), v.ID)
		}
	})
}
