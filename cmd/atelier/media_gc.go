package main

import (
	"context"
	"time"

	"atelier/ledger"
	"atelier/media"
	"atelier/media/blob"
)

type mediaGCCmd struct {
	DryRun bool `name:"dry-run" help:"Print what would be deleted, and delete nothing."`
	JSON   bool `help:"Print JSON."`
}

// collected is the result of a collection, or of its dry run.
type collected struct {
	Scanned    int   `json:"scanned"`
	Kept       int   `json:"kept"`
	Young      int   `json:"young"`
	Deleted    int   `json:"deleted"`
	FreedBytes int64 `json:"freed_bytes"`
	DryRun     bool  `json:"dry_run"`
}

// Run deletes the stored bytes that the ledger does not need and that are older than a week.
func (c *mediaGCCmd) Run(w *world) error {
	return w.withStores(func(s *stores) error {
		g := collection{ledger: s.Ledger, since: time.Now().Add(-blob.DefaultGrace)} //nolint:forbidigo // the clock of the command line
		done, known, err := g.scan(w.ctx, s.Blobs)
		if err != nil {
			return err
		}
		if done.Deleted > 0 && !known {
			return media.Errorf(media.CodeConflict, "the ledger has no record of any of the %d stored items: "+
				"it may belong to another data folder, or be new because the old one was lost. Nothing was deleted; "+
				"check ATELIER_DATA and ATELIER_DATABASE_URL", done.Scanned)
		}
		if !c.DryRun {
			if done, err = g.collect(w.ctx, s.Blobs); err != nil {
				return err
			}
		}
		if c.JSON {
			return w.printJSON(done)
		}
		verb := "deleted"
		if c.DryRun {
			verb = "would be deleted"
		}
		w.line("%d stored, %d needed, %d younger than a week; %d %s, %s", done.Scanned, done.Kept, done.Young, done.Deleted, verb, size(done.FreedBytes))
		return nil
	})
}

// collection is one search for unused bytes.
type collection struct {
	ledger    ledger.Blobs
	since     time.Time // bytes deleted or stored later are kept
	deletable []media.Digest
	broken    error
}

// needed reports whether the ledger needs a blob; a blob whose lookup fails counts as needed.
func (g *collection) needed(ctx context.Context, i blob.Info) bool {
	named, err := g.ledger.BlobReferenced(ctx, i.Digest, g.since)
	if err != nil && g.broken == nil {
		g.broken = err
	}
	if named || err != nil {
		return true
	}
	g.deletable = append(g.deletable, i.Digest)
	return false
}

// collect deletes unused bytes and removes them from the ledger's inventory.
func (g *collection) collect(ctx context.Context, blobs *blob.Store) (collected, error) {
	g.deletable = nil
	gc, err := blobs.Collect(ctx, func(i blob.Info) bool { return g.needed(ctx, i) }, blob.DefaultGrace)
	if err == nil {
		err = g.broken
	}
	for _, d := range g.deletable {
		if _, stat := blobs.Stat(ctx, d); err == nil && media.CodeOf(stat) == media.CodeNotFound {
			_, err = g.ledger.ForgetBlob(ctx, d, "")
		}
	}
	return collected{gc.Scanned, gc.Kept, gc.Young, gc.Deleted, gc.FreedBytes, false}, err
}

// scan counts what a collection would do, and reports whether the ledger knows any of the blobs:
// if not, the ledger may belong to other blobs.
func (g *collection) scan(ctx context.Context, blobs *blob.Store) (done collected, known bool, err error) {
	done.DryRun = true
	for i, err := range blobs.All(ctx) {
		if err != nil {
			return done, known, err
		}
		done.Scanned++
		if !known {
			_, err := g.ledger.BlobOf(ctx, i.Digest)
			if err != nil && media.CodeOf(err) != media.CodeNotFound {
				return done, known, err
			}
			known = err == nil
		}
		switch {
		case i.ModTime.After(g.since):
			done.Young++
		case g.needed(ctx, i):
			done.Kept++
		default:
			done.Deleted++
			done.FreedBytes += i.SizeBytes
		}
	}
	return done, known, g.broken
}
