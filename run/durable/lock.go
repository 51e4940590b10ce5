package durable

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"atelier/media"
)

// errHeld tells that a living process holds a lock.
var errHeld = errors.New("lock is held")

// lock is the sign of life of a process: the system takes it back when the process
// ends, in whatever way.
type lock struct {
	file *os.File
	path string
}

// hold takes the lock of an executor; errHeld if its process lives.
func hold(dir, executor string) (*lock, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, media.Errorf(media.CodeInvalid, "make the folder of executors: %w", err)
	}
	path := filepath.Join(dir, filepath.Base(executor)+".lock")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600) //nolint:gosec // a name of our own making
	if err != nil {
		return nil, media.Errorf(media.CodeInvalid, "open the lock of an executor: %w", err)
	}
	if err := tryLock(f); err != nil {
		_ = f.Close() // it holds nothing
		return nil, err
	}
	return &lock{file: f, path: path}, nil
}

// tablesLock is held by the process that makes the engine's tables; no executor has
// its name.
const tablesLock = "tables"

// awaitEvery is how soon a lock is tried again.
const awaitEvery = 5 * time.Millisecond

// await takes a lock as soon as nobody else holds it.
func await(ctx context.Context, dir, name string) (*lock, error) {
	for {
		l, err := hold(dir, name)
		if !errors.Is(err, errHeld) {
			return l, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(awaitEvery):
		}
	}
}

// release gives the lock up; the file of a process that ends in order goes with it.
func (l *lock) release(remove bool) error {
	if remove {
		_ = os.Remove(l.path) // one that stays means nothing
	}
	return l.file.Close()
}
