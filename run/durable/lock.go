package durable

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"atelier/journal"
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

// release gives the lock up; the file of a process that ends in order goes with it.
func (l *lock) release(remove bool) error {
	if remove {
		_ = os.Remove(l.path) // one that stays means nothing
	}
	return l.file.Close()
}

// tablesLock is the name of the lock under which the tables of a file are made. No
// executor has it.
const tablesLock = "tables of engine"

// oneAtATime runs fn while no other process makes or updates the tables of the file.
func oneAtATime(ctx context.Context, dir string, fn func() error) error {
	ctx, stop := context.WithTimeout(ctx, fileLimit)
	defer stop()
	for {
		l, err := hold(dir, tablesLock)
		if err == nil {
			return errors.Join(fn(), l.release(false))
		}
		if !errors.Is(err, errHeld) {
			return err
		}
		if (journal.Memory{}).Sleep(ctx, askPause) != nil {
			return media.Errorf(media.CodeUnavailable, "another process has been making the tables for %s: end it, or wait", fileLimit)
		}
	}
}
