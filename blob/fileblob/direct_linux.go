package fileblob

import (
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
	ahead   bool       // holds a place in the channel of that name
	writing chan error // takes what came of the write under way; nil if there is none
	err     error      // first failure; it stays
}

type writeMode int

const (
	undecided writeMode = iota
	direct
	cached
)

// synced makes a file whose writes are to be synced soon.
func synced(f *os.File) file { return &directFile{File: f} }

// Write implements io.Writer. A failure may be that of an earlier piece.
func (f *directFile) Write(p []byte) (int, error) {
	written := 0
	for len(p) > 0 && f.err == nil {
		if f.pieces == nil {
			f.choose()
		}
		if f.piece == nil {
			f.piece = f.pieces.get()
		}
		n := copy(f.piece[f.n:], p)
		f.n += n
		written += n
		p = p[n:]
		if f.n == len(f.piece) {
			f.flush()
		}
	}
	return written, f.err
}

// flush writes the full piece.
func (f *directFile) flush() {
	f.wait()
	if f.err != nil {
		return
	}
	f.n = 0
	if !f.ahead {
		f.err = f.put(f.piece)
		return
	}
	full, done := f.piece, make(chan error, 1)
	f.piece, f.writing = nil, done
	go func() {
		err := f.put(full)
		f.pieces.give(full)
		done <- err
	}()
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
	if err := <-f.writing; f.err == nil {
		f.err = err
	}
	f.writing = nil
}

// put writes one whole piece.
func (f *directFile) put(b []byte) error {
	if f.mode == undecided {
		f.mode = cached
		if f.flags(os.O_RDWR|syscall.O_DIRECT) == nil {
			f.mode = direct
		}
	}
	n, err := f.File.Write(b)
	if f.mode == direct && errors.Is(err, syscall.EINVAL) { // takes the flag and refuses the write
		if err = f.throughCache(); err == nil {
			_, err = f.File.Write(b[n:])
		}
	}
	return err
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
	if f.err == nil && f.n > 0 {
		f.err = f.throughCache()
	}
	if f.err == nil && f.n > 0 {
		_, f.err = f.File.Write(f.piece[:f.n])
		f.n = 0
	}
	if f.err == nil {
		f.err = f.File.Sync()
	}
	return f.err
}

// Close throws away what was not synced.
func (f *directFile) Close() error {
	f.wait()
	if f.piece != nil {
		f.pieces.give(f.piece)
		f.piece = nil
	}
	if f.ahead {
		<-ahead
		f.ahead = false
	}
	return f.File.Close()
}
