package wire

import (
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"atelier/media"
)

// Open returns a new reader of the body. It can seek to the start and the end, as required for signing a request. Items
// are read under the context of the plan. An item that is shorter than its token says is [media.CodeCorrupt].
func (l *Lowered) Open() io.ReadSeekCloser { return &lowering{plan: l} }

// lowering is a reader of a plan.
type lowering struct {
	plan   *Lowered
	closed atomic.Bool
	mu     sync.Mutex // guards all fields below; HTTP/2 closes a body while it is read
	next   int        // index of the current piece
	done   int64      // in the current piece: text bytes returned or item bytes read
	pos    int64
	item   io.ReadCloser
	buf    *buffers
	ready  []byte // encoded and not yet returned
	err    error
}

func (r *lowering) Read(p []byte) (int, error) {
	r.mu.Lock()
	defer r.leave()
	for {
		if r.closed.Load() {
			return 0, io.ErrClosedPipe
		}
		if r.err != nil {
			return 0, r.err
		}
		if len(r.ready) > 0 || len(p) == 0 {
			n := copy(p, r.ready)
			r.ready = r.ready[n:]
			r.pos += int64(n)
			return n, nil
		}
		if r.next == len(r.plan.pieces) {
			r.release()
			return 0, io.EOF
		}
		if n := r.step(p); n > 0 {
			return n, nil
		}
	}
}

// step continues in the current piece. It copies to p, or fills ready and returns 0.
func (r *lowering) step(p []byte) int {
	s := &r.plan.pieces[r.next]
	if s.text != nil {
		n := copy(p, s.text[r.done:])
		r.advance(n, s.size)
		r.pos += int64(n)
		return n
	}
	if r.item == nil {
		if r.item, r.err = r.plan.open(s.blob.Digest); r.err != nil {
			return 0
		}
	}
	if s.raw {
		n, err := r.item.Read(p[:min(int64(len(p)), s.size-r.done)])
		r.pos += int64(n)
		r.advance(n, s.size)
		r.short(err, s)
		return n
	}
	r.encode(s)
	return 0
}

// encode reads one piece of an item and fills ready.
func (r *lowering) encode(s *piece) {
	if r.buf == nil {
		r.buf = r.plan.codec.takeBuffers()
	}
	want := min(int64(len(r.buf.bytes)), s.blob.SizeBytes-r.done)
	n, err := io.ReadFull(r.item, r.buf.bytes[:want])
	if int64(n) < want {
		r.short(errors.Join(err, io.EOF), s)
		return
	}
	m := encodeTo(r.buf.text[:], r.buf.bytes[:n], s.variant)
	r.ready = r.buf.text[:m]
	r.advance(n, s.blob.SizeBytes)
}

// short records an error of reading an item. The end of an item before its known size is [media.CodeCorrupt].
func (r *lowering) short(err error, s *piece) {
	switch {
	case err == nil || r.item == nil:
	case errors.Is(err, io.EOF):
		r.err = media.Errorf(media.CodeCorrupt, "blob %s ends early", s.blob.Digest)
	default:
		r.err = err
	}
}

// advance counts n bytes of a piece of size bytes, and moves to the next piece after the last byte.
func (r *lowering) advance(n int, size int64) {
	r.done += int64(n)
	if r.done < size {
		return
	}
	r.closeItem()
	r.next, r.done = r.next+1, 0
}

func (r *lowering) closeItem() {
	if r.item != nil {
		_ = r.item.Close() // opened for reading only
		r.item = nil
	}
}

// release closes the item and returns the buffers; the caller holds mu.
func (r *lowering) release() {
	r.closeItem()
	r.ready = nil
	if r.buf != nil {
		r.plan.codec.giveBuffers(r.buf)
		r.buf = nil
	}
}

// leave unlocks mu, and cleans up after a Close during which mu was locked.
func (r *lowering) leave() {
	r.mu.Unlock()
	if r.closed.Load() {
		r.tidy()
	}
}

func (r *lowering) tidy() {
	if r.mu.TryLock() {
		r.release()
		r.mu.Unlock()
	}
}

// Close implements io.Closer. It does not wait for a Read.
func (r *lowering) Close() error {
	r.closed.Store(true)
	r.tidy()
	return nil
}

// Seek implements io.Seeker for the start, the end and the current position.
func (r *lowering) Seek(offset int64, whence int) (int64, error) {
	r.mu.Lock()
	defer r.leave()
	switch whence {
	case io.SeekCurrent:
		offset += r.pos
	case io.SeekEnd:
		offset += r.plan.size
	}
	switch offset {
	case r.pos:
		return offset, nil
	case 0:
		r.next = 0
	case r.plan.size:
		r.next = len(r.plan.pieces)
	default:
		return 0, media.Errorf(media.CodeUnsupported, "seek in lowered body: only seeks to its start and end are possible, not to %d", offset)
	}
	r.release()
	r.done, r.pos, r.err = 0, offset, nil
	return offset, nil
}
