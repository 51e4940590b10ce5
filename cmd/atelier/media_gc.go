package main

import (
	"context"
	"os"
	"time"

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

// Run deletes the stored bytes that the ledger does not need and that are older than a week, and removes them from the
// ledger's inventory.
func (c *mediaGCCmd) Run(w *world) error {
	return w.withStores(func(s *stores) error {
		since := time.Now().Add(-blob.DefaultGrace) //nolint:forbidigo // the clock of the command line
		done, unused, err := s.unusedBlobs(w.ctx, since)
		if err != nil {
			return err
		}
		for _, i := range unused {
			deleted := c.DryRun
			if !deleted {
				if deleted, err = s.discard(w.ctx, i.Digest, since); err != nil {
					return err
				}
			}
			if !deleted {
				done.Kept++
				continue
			}
			done.Deleted++
			done.FreedBytes += i.SizeBytes
		}
		done.DryRun = c.DryRun
		verb := "deleted"
		if c.DryRun {
			verb = "would be deleted"
		}
		return w.print(done, func() {
			w.line("%d stored: %d needed, %d not examined because they are younger than a week, %d %s, %s", done.Scanned, done.Kept, done.Young, done.Deleted, verb, size(done.FreedBytes))
		})
	})
}

// unusedBlobs counts the blobs and returns those that the ledger does not need and that were stored before a time. If
// there may be another ledger that needs them, the error has code media.CodeConflict.
func (s *stores) unusedBlobs(ctx context.Context, since time.Time) (done collected, unused []blob.Info, err error) {
	const nothing = "Nothing was deleted; check ATELIER_DATA and ATELIER_DATABASE_URL"
	if _, err := os.Stat(s.Config.LedgerFile()); err == nil && s.Config.DatabaseURL != "" {
		return done, nil, media.Errorf(media.CodeConflict, "the data folder has another ledger, %s, which may need the stored items: move it away if it does not. %s", s.Config.LedgerFile(), nothing)
	}
	unknown := 0
	for i, err := range s.Blobs.All(ctx) {
		if err != nil {
			return done, nil, err
		}
		done.Scanned++
		if !i.ModTime.Before(since) {
			done.Young++
			continue
		}
		needed, err := s.Ledger.BlobReferenced(ctx, i.Digest, since)
		if err != nil {
			return done, nil, err
		}
		if needed {
			done.Kept++
			continue
		}
		unused = append(unused, i)
		switch _, err := s.Ledger.BlobOf(ctx, i.Digest); {
		case media.CodeOf(err) == media.CodeNotFound:
			unknown++
		case err != nil:
			return done, nil, err
		}
	}
	if old := done.Kept + len(unused); unknown > old/2 {
		return done, nil, media.Errorf(media.CodeConflict, "the ledger has no record of %d of the %d stored items that are older than a week: "+
			"it may belong to another data folder, or be new because the old one was lost. %s", unknown, old, nothing)
	}
	return done, unused, nil
}

// discard deletes a blob that is still unused, and removes it from the inventory.
func (s *stores) discard(ctx context.Context, d media.Digest, since time.Time) (deleted bool, err error) {
	if needed, err := s.Ledger.BlobReferenced(ctx, d, since); needed || err != nil {
		return false, err
	}
	if deleted, err = s.Blobs.DeleteOld(ctx, d, since); deleted {
		_, err = s.Ledger.ForgetBlob(ctx, d, "")
	}
	return deleted, err
}
