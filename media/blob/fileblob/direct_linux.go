package fileblob

import (
	"cmp"
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// pieceBytes is the number of bytes of a large blob that are written at once if many files are written; longBytes
// applies if there are few. A last piece that is not full goes through the page cache.
const (
	pieceBytes = 128 << 10
	longBytes  = 256 << 10
)

// pieces and longs keep the memory of as many files as are usually written at the same time.
var (
	pieces = &pool{size: pieceBytes, free: make(chan []byte, 64)}
	longs  = &pool{size: longBytes, free: make(chan []byte, 2*cap(ahead))}
)

// ahead limits the number of files with two long pieces, one of which is filled while the other is written. This speeds
// up a few files; if there are many, their writes overlap anyway.
var ahead = make(chan struct{}, 2)

// directFile writes past the page cache (O_DIRECT). A blob must be on the disk before it counts, so the page cache
// would only add a copy and a wait. On file systems without direct writes, it writes through the page cache. It must be
// used by one goroutine.
type directFile struct {
	*os.File
	pieces  *pool  // nil before the first byte
	piece   []byte // being filled; nil if there is none
	n       int    // bytes in piece
	mode    writeMode
	ahead   bool         // the file occupies a place in the channel ahead
	writing chan written // receives the result of the write in progress; nil if there is none
	stuck   written      // a piece that did not fit on the disk: it is written before all later ones
	err     error        // the first error other than a full disk; it is permanent
}

// written is the result of writing a piece.
type written struct {
	piece, rest []byte // rest is the part that is not on the disk
	err         error
}

type writeMode int

const (
	undecided writeMode = iota
	direct
	cached
)

// synced returns a writer for a file whose writes are synced soon.
func synced(f *os.File) file { return &directFile{File: f} }

// Write implements io.Writer. The error may be that of an earlier piece. After a full disk, every call first tries
// again to write what did not fit.
func (f *directFile) Write(p []byte) (int, error) {
	took := 0
	err := f.settle()
	for len(p) > 0 && err == nil {
		if f.pieces == nil {
			f.choose()
		}
		if f.piece == nil {
			f.piece = f.pieces.get()
		}
		n := copy(f.piece[f.n:], p)
		f.n += n
		took += n
		p = p[n:]
		err = f.settle()
	}
	return took, err
}

// settle writes the piece that did not fit, and then the current piece if it is full.
func (f *directFile) settle() error {
	if f.stuck.piece != nil {
		f.keep(f.put(f.stuck))
	}
	if f.n > 0 && f.n == len(f.piece) && !f.failed() {
		f.flush()
	}
	return cmp.Or(f.err, f.stuck.err)
}

func (f *directFile) failed() bool { return f.err != nil || f.stuck.err != nil }

// flush writes the full piece.
func (f *directFile) flush() {
	if f.wait(); f.failed() {
		return
	}
	full := written{piece: f.piece, rest: f.piece}
	f.n = 0
	if !f.ahead {
		if w := f.put(full); noRoom(w.err) {
			f.stuck, f.piece = w, nil
		} else {
			f.err = w.err
		}
		return
	}
	done := make(chan written, 1)
	f.writing, f.piece = done, nil
	go func() { done <- f.put(full) }()
}

// keep records the result of a write.
func (f *directFile) keep(w written) {
	if f.stuck = (written{}); noRoom(w.err) {
		f.stuck = w
		return
	}
	f.pieces.give(w.piece)
	f.err = cmp.Or(f.err, w.err)
}

// choose decides which pieces the file uses.
func (f *directFile) choose() {
	select {
	case ahead <- struct{}{}:
		f.ahead, f.pieces = true, longs
	default:
		f.pieces = pieces
	}
}

// wait waits for the write in progress.
func (f *directFile) wait() {
	if f.writing == nil {
		return
	}
	f.keep(<-f.writing)
	f.writing = nil
}

// put writes the rest of a piece.
func (f *directFile) put(w written) written {
	if f.mode == undecided {
		f.mode = cached
		if f.flags(os.O_RDWR|syscall.O_DIRECT) == nil {
			f.mode = direct
		}
	}
	n, err := f.File.Write(w.rest)
	w.rest = w.rest[n:]
	if f.mode == direct && errors.Is(err, syscall.EINVAL) { // the file system accepts the flag but refuses the write
		if err = f.throughCache(); err == nil {
			n, err = f.File.Write(w.rest)
			w.rest = w.rest[n:]
		}
	}
	w.err = err
	return w
}

// throughCache switches to writes through the page cache, which can have any length.
func (f *directFile) throughCache() error {
	if f.mode != direct {
		return nil
	}
	f.mode = cached
	return f.flags(os.O_RDWR)
}

func (f *directFile) flags(to int) error {
	_, err := unix.FcntlInt(f.Fd(), unix.F_SETFL, to)
	return err
}

// Sync writes the rest and syncs the file.
func (f *directFile) Sync() error {
	f.wait()
	if err := f.settle(); err != nil {
		return err
	}
	if f.wait(); f.failed() { // the write that settle started
		return cmp.Or(f.err, f.stuck.err)
	}
	if f.n > 0 {
		if err := f.putRest(); err != nil {
			return err
		}
	}
	f.err = f.File.Sync()
	return f.err
}

// putRest writes a piece that is not full.
func (f *directFile) putRest() error {
	if f.err = f.throughCache(); f.err != nil {
		return f.err
	}
	n, err := f.File.Write(f.piece[:f.n])
	f.n = copy(f.piece, f.piece[n:f.n])
	if !noRoom(err) {
		f.err = err
	}
	return err
}

// Close closes the file and discards what was not synced.
func (f *directFile) Close() error {
	f.wait()
	for _, piece := range [][]byte{f.piece, f.stuck.piece} {
		if piece != nil {
			f.pieces.give(piece)
		}
	}
	f.piece, f.stuck = nil, written{}
	if f.ahead {
		<-ahead
		f.ahead = false
	}
	return f.File.Close()
}
