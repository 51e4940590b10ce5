package wire

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"atelier/media"
)

// LiftOptions are the options of [Codec.LiftReader].
type LiftOptions struct {
	// Scope is the scope for which tokens are signed; empty means the run tree of the context. If both are empty, the
	// tokens cannot be lowered.
	Scope  string
	Fields Fields
	// OnLift is called for each item when it ends, in order, also for failed items. It is called from Read, and for
	// [Fields].Deltas also from Close.
	OnLift func(Lifted)
}

// LiftReader reads JSON, NDJSON or server-sent events from src and replaces media in base64 by tokens. All other bytes
// are returned unchanged. Items are stored under the limits of the codec. One that cannot be stored is replaced by a
// tombstone, and the stream continues. If src ends inside an item, the error is io.ErrUnexpectedEOF, and the incomplete
// item is not stored. Items are also added to the [Collector] of the context. Audio of [Fields].Deltas is reported
// last, when src ends or the reader is closed.
//
// Close may be called during a blocked Read; it closes src. The reader uses O(64 KiB) of memory.
func (c *Codec) LiftReader(ctx context.Context, src io.ReadCloser, o LiftOptions) io.ReadCloser {
	if o.Scope == "" {
		o.Scope = media.ScopeOf(ctx).Tree
	}
	n, sink, emitted := 0, collectorOf(ctx), map[string]int{}
	l := &lifter{codec: c, src: src}
	l.scan = scanner{
		fields: compileFields(o.Fields),
		begin: func(declared string, pcm *PCM) *intake {
			return c.beginNth(ctx, sink.counted(n+1, emitted), declared, pcm)
		},
		emit: func(in *intake, v Variant, field string) string {
			n++
			lifted := c.end(ctx, in, o.Scope, n)
			lifted.Field = field
			if lifted.Err == nil {
				lifted.Variant = v
				lifted.Token = c.Token(o.Scope, lifted.Blob, v)
			}
			emitted[lifted.Token]++
			lifted.report(sink, o.OnLift)
			return lifted.Token
		},
	}
	return l
}

// end finishes the n-th item of a stream.
func (c *Codec) end(ctx context.Context, in *intake, scope string, n int) Lifted {
	b, err := in.finish(ctx)
	if err != nil {
		return Lifted{Token: tombstone(media.CodeOf(err), n), Err: err}
	}
	return Lifted{Token: c.Token(scope, b, VariantStd), Blob: b, Variant: VariantStd}
}

func (l Lifted) report(to *Collector, onLift func(Lifted)) {
	if to != nil {
		to.add(l)
	}
	if onLift != nil {
		onLift(l)
	}
}

// lifter reads a source through a scanner.
type lifter struct {
	codec  *Codec
	src    io.ReadCloser
	closed atomic.Bool
	mu     sync.Mutex // guards all fields below; Read locks it, Close only tries to
	scan   scanner
	buf    *buffers // nil before the first Read and after the end
	off    int      // number of bytes of scan.out that were returned
	err    error
}

func (l *lifter) Read(p []byte) (int, error) {
	l.mu.Lock()
	defer l.leave()
	if len(p) == 0 {
		return 0, nil
	}
	for {
		if l.off < len(l.scan.out) {
			n := copy(p, l.scan.out[l.off:])
			l.off += n
			return n, nil
		}
		if l.err != nil {
			l.release()
			return 0, l.err
		}
		l.fill()
	}
}

// fill reads and scans one chunk.
func (l *lifter) fill() {
	if l.closed.Load() {
		l.err = io.ErrClosedPipe
		return
	}
	if l.buf == nil {
		l.buf = l.codec.takeBuffers()
		l.scan.out, l.scan.dec.buf, l.scan.flat = l.buf.out, l.buf.bytes[:], l.buf.flat
	}
	l.scan.out, l.off = l.scan.out[:0], 0
	n, err := l.src.Read(l.buf.text[:])
	if l.closed.Load() {
		err = io.ErrClosedPipe
		n = 0
	}
	l.scan.feed(l.buf.text[:n])
	switch {
	case err == nil:
	case errors.Is(err, io.EOF):
		l.err = io.EOF
		if l.scan.end() {
			l.err = io.ErrUnexpectedEOF
		}
		l.scan.endPieces(l.err == io.EOF) //nolint:errorlint // set above
		l.scan.abort()
	default:
		l.scan.endPieces(false)
		l.scan.abort()
		l.err = err
	}
}

// release returns the buffers to the pool; the caller holds mu.
func (l *lifter) release() {
	l.scan.abort()
	if l.buf != nil {
		l.buf.out, l.buf.flat = l.scan.out, l.scan.flat
		l.codec.giveBuffers(l.buf)
		l.buf, l.scan.out, l.scan.dec.buf, l.scan.flat, l.off = nil, nil, nil, nil, 0
	}
}

// leave unlocks mu, and cleans up after a Close during which mu was locked.
func (l *lifter) leave() {
	l.mu.Unlock()
	if l.closed.Load() {
		l.tidy()
	}
}

// tidy cleans up after a Close. During a Read it does nothing: leave calls it again when the Read ends.
func (l *lifter) tidy() {
	if l.mu.TryLock() {
		if l.err == nil { // readers of events stop after the last event, before the stream ends
			l.scan.endPieces(l.scan.state == outside)
		}
		l.err = io.ErrClosedPipe
		l.release()
		l.mu.Unlock()
	}
}

// Close closes the source and discards an incomplete item. It does not wait for a blocked Read.
func (l *lifter) Close() error {
	l.closed.Store(true)
	err := l.src.Close()
	l.tidy()
	return err
}
