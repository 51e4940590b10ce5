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

// GC is the result of a collection.
type GC struct {
	// Scanned is the number of blobs examined. Kept were wanted. Young were put within the grace, or changed or
	// disappeared during the collection. Deleted were removed.
	Scanned, Kept, Young, Deleted int
	// FreedBytes is the size of the deleted blobs.
	FreedBytes int64
	// Leftovers is the number of unfinished uploads that were removed.
	Leftovers int
}

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

// Collect deletes every blob for which keep returns false and that was put longer ago than grace. It also removes
// unfinished uploads that are older than grace. A grace of 0 means [DefaultGrace]; a negative grace means none. Collect
// checks the time of a blob again just before it deletes it, so that a blob put in the meantime is kept. After an
// error, the GC contains what was done so far.
func (s *Store) Collect(ctx context.Context, keep func(Info) bool, grace time.Duration) (GC, error) {
	if grace == 0 {
		grace = DefaultGrace
	}
	before := s.now().Add(-max(grace, 0))
	var gc GC
	for i, err := range s.All(ctx) {
		if err != nil {
			return gc, err
		}
		gc.Scanned++
		switch {
		case i.ModTime.After(before):
			gc.Young++
			continue
		case keep(i):
			gc.Kept++
			continue
		}
		if again, err := s.driver.Stat(ctx, i.Digest); err != nil || again.ModTime.After(before) {
			gc.Young++
			continue
		}
		if err := s.driver.Delete(ctx, i.Digest); err != nil {
			return gc, err
		}
		gc.Deleted++
		gc.FreedBytes += i.SizeBytes
	}
	n, err := s.driver.Sweep(ctx, before)
	gc.Leftovers = n
	return gc, err
}

// Sweep removes unfinished uploads that are older than grace and returns their number. It deletes no blobs. A grace of
// 0 means none.
func (s *Store) Sweep(ctx context.Context, grace time.Duration) (int, error) {
	return s.driver.Sweep(ctx, s.now().Add(-grace))
}
