package main

import (
	"time"

	"atelier/blob"
	"atelier/media"
)

type mediaGCCmd struct {
	DryRun bool `name:"dry-run" help:"Say what would be deleted, and delete nothing."`
	JSON   bool `help:"Print JSON."`
}

// collected is what a collection did, or would do.
type collected struct {
	Scanned    int   `json:"scanned"`
	Kept       int   `json:"kept"`
	Young      int   `json:"young"`
	Deleted    int   `json:"deleted"`
	FreedBytes int64 `json:"freed_bytes"`
	DryRun     bool  `json:"dry_run"`
}

// Run deletes the stored bytes that the ledger has no record of and that are older than a week.
func (c *mediaGCCmd) Run(w *world) error {
	return w.withStores(func(s *stores) error {
		var broken error
		recorded := func(i blob.Info) bool {
			_, err := s.Ledger.BlobOf(w.ctx, i.Digest)
			if media.CodeOf(err) == media.CodeNotFound {
				return false
			}
			if err != nil && broken == nil {
				broken = err
			}
			return true // what cannot be looked up stays
		}
		done, err := c.look(w, s, recorded)
		if err == nil {
			err = broken
		}
		if err != nil {
			return err
		}
		if done.Deleted > 0 && done.Kept == 0 {
			return media.Errorf(media.CodeConflict, "the ledger has a record of none of the %d stored items: "+
				"it may be that of another data folder, or a new one in place of one that was lost. Nothing was deleted; "+
				"check ATELIER_DATA and ATELIER_DATABASE_URL", done.Scanned)
		}
		if !c.DryRun {
			gc, err := s.Blobs.Collect(w.ctx, recorded, blob.DefaultGrace)
			if err == nil {
				err = broken
			}
			if err != nil {
				return err
			}
			done = collected{gc.Scanned, gc.Kept, gc.Young, gc.Deleted, gc.FreedBytes, false}
		}
		if c.JSON {
			return w.printJSON(done)
		}
		verb := "deleted"
		if c.DryRun {
			verb = "would be deleted"
		}
		w.line("%d stored, %d recorded, %d younger than a week; %d %s, %s", done.Scanned, done.Kept, done.Young, done.Deleted, verb, size(done.FreedBytes))
		return nil
	})
}

// look counts what a collection would do. Every blob is looked up, young ones too, so that a ledger
// that knows none is found out.
func (c *mediaGCCmd) look(w *world, s *stores, recorded func(blob.Info) bool) (collected, error) {
	done := collected{DryRun: true}
	before := time.Now().Add(-blob.DefaultGrace) //nolint:forbidigo // the clock of the command line
	for i, err := range s.Blobs.All(w.ctx) {
		if err != nil {
			return done, err
		}
		done.Scanned++
		switch {
		case recorded(i):
			done.Kept++
		case i.ModTime.After(before):
			done.Young++
		default:
			done.Deleted++
			done.FreedBytes += i.SizeBytes
		}
	}
	return done, nil
}
