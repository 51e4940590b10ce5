package fileblob

import (
	"cmp"
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// pieceBytes is how much of a large blob is written at once, where many are written;
// longBytes where few are. What is smaller goes through the page cache.
const (
	pieceBytes = 128 << 10
	longBytes  = 256 << 10
)

// Pieces for as many files as are usual at once are kept.
var (
	pieces = &pool{size: pieceBytes, free: make(chan []byte, 64)}
	longs  = &pool{size: longBytes, free: make(chan []byte, 2*cap(ahead))}
)

// ahead bounds how many files have two long pieces, one that is filled while the other is
// written. It helps the few; many overlap anyway.
var ahead = make(chan struct{}, 2)

// directFile writes past the page cache (O_DIRECT): a blob that must be on the disk before
// it counts is neither copied into the kernel's memory nor waited for there. Where a file system
// does not do that it writes as always. One goroutine uses it.
type directFile struct {
	*os.File
	pieces  *pool  // nil before the first byte
	piece   []byte // being filled; nil before the first byte
	n       int    // bytes in piece
	mode    writeMode
	ahead   bool         // holds a place in the channel of that name
	writing chan written // takes what came of the write under way; nil if there is none
	stuck   written      // a piece for which there was no room: it is written before what follows
	err     error        // first failure beside a full disk; it stays
}

// written is what came of the write of a piece.
type written struct {
	piece, rest []byte // rest of it is not on the disk
	err         error
}

type writeMode int

const (
	undecided writeMode = iota
	direct
	cached
)

// synced makes a file whose writes are to be synced soon.
func synced(f *os.File) file { return &directFile{File: f} }

// Write implements io.Writer. A failure may be that of an earlier piece. After that of a full disk
// any other call tries again first.
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

// settle writes what was stuck, and then the piece if it is full.
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

// keep takes what came of a write.
func (f *directFile) keep(w written) {
	if f.stuck = (written{}); noRoom(w.err) {
		f.stuck = w
		return
	}
	f.pieces.give(w.piece)
	f.err = cmp.Or(f.err, w.err)
}

// choose decides how the file is written.
func (f *directFile) choose() {
	select {
	case ahead <- struct{}{}:
		f.ahead, f.pieces = true, longs
	default:
		f.pieces = pieces
	}
}

// wait ends the write under way.
func (f *directFile) wait() {
	if f.writing == nil {
		return
	}
	f.keep(<-f.writing)
	f.writing = nil
}

// put writes what is not on the disk of a piece.
func (f *directFile) put(w written) written {
	if f.mode == undecided {
		f.mode = cached
		if f.flags(os.O_RDWR|syscall.O_DIRECT) == nil {
			f.mode = direct
		}
	}
	n, err := f.File.Write(w.rest)
	w.rest = w.rest[n:]
	if f.mode == direct && errors.Is(err, syscall.EINVAL) { // takes the flag and refuses the write
		if err = f.throughCache(); err == nil {
			n, err = f.File.Write(w.rest)
			w.rest = w.rest[n:]
		}
	}
	w.err = err
	return w
}

// throughCache makes writes of any length possible.
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
	if f.wait(); f.failed() { // what settle began
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

// Close throws away what was not synced.
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
