package blob

import (
	"context"
	"iter"
	"time"

	"atelier/media"
)

// DefaultGrace is how long unreferenced blobs are kept, so that a crash between storing and recording a blob loses
// nothing.
const DefaultGrace = 7 * 24 * time.Hour

// listPage is the number of blobs that are listed at once.
const listPage = 1000

// All iterates over all blobs in the order of their digests, a page at a time. It ends after the first error.
func (s *Store) All(ctx context.Context) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		var after media.Digest
		for {
			err := ctx.Err()
			var page []Info
			if err == nil {
				page, err = s.driver.List(ctx, after, listPage)
			}
			if err != nil {
				yield(Info{}, err)
				return
			}
			if len(page) == 0 {
				return
			}
			for _, i := range page {
				if !yield(i, nil) {
					return
				}
			}
			after = page[len(page)-1].Digest
		}
	}
}

// DeleteOld deletes a blob that was last put before a time, and reports whether it did: a blob that was put again in the
// meantime is kept.
func (s *Store) DeleteOld(ctx context.Context, d media.Digest, before time.Time) (bool, error) {
	switch i, err := s.Stat(ctx, d); {
	case media.CodeOf(err) == media.CodeNotFound:
		return false, nil
	case err != nil || !i.ModTime.Before(before):
		return false, err
	}
	return s.driver.Delete(ctx, d, before)
}

// Sweep removes unfinished uploads that are older than grace and returns their number. It deletes no blobs. A grace of
// 0 means none.
func (s *Store) Sweep(ctx context.Context, grace time.Duration) (int, error) {
	return s.driver.Sweep(ctx, time.Now().Add(-grace)) //nolint:forbidigo // the clock of the drivers
}
