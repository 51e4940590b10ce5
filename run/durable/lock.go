package durable

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
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

func lockPath(dir, name string) string { return filepath.Join(dir, filepath.Base(name)+".lock") }

// hold takes a lock; errHeld if another process has it.
func hold(dir, name string) (*lock, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, media.Errorf(media.CodeInvalid, "make the folder of executors: %w", err)
	}
	path := lockPath(dir, name)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600) //nolint:gosec // a name of our own making
	if err != nil {
		return nil, media.Errorf(media.CodeInvalid, "open the lock of an executor: %w", err)
	}
	if err := tryLock(f, true); err != nil {
		_ = f.Close() // it holds nothing
		return nil, err
	}
	return &lock{file: f, path: path}, nil
}

// tablesLock is held by the process that makes the engine's tables, ownerLock by the one that
// changes which executor has a workflow. No executor has such a name.
const (
	tablesLock = "tables"
	ownerLock  = "owner"
)

// process is what an executor's lock file says of its process.
type process struct {
	PID  int    `json:"pid"`
	Host string `json:"host"`
}

// String names a process for people.
func (p process) String() string {
	if p.PID == 0 {
		return "another process"
	}
	return fmt.Sprintf("process %d on %s", p.PID, p.Host)
}

// sign writes into a lock whose process holds it.
func (l *lock) sign() error {
	host, err := os.Hostname()
	if err != nil {
		host = "this machine"
	}
	b, err := json.Marshal(process{PID: os.Getpid(), Host: host})
	if err == nil {
		_, err = l.file.WriteAt(b, 0)
	}
	if err != nil {
		return media.Errorf(media.CodeInvalid, "write the lock of an executor: %w", err)
	}
	return nil
}

// signLimit bounds what is read of a lock file.
const signLimit = 4 << 10

// alive reports whether the process of an executor is there, and which one it is. Any number of
// processes can ask at once.
func alive(dir, executor string) (process, bool) {
	f, err := os.Open(lockPath(dir, executor))
	if err != nil {
		return process{}, !errors.Is(err, fs.ErrNotExist) // or nobody can tell
	}
	defer func() { _ = f.Close() }()
	if tryLock(f, false) == nil {
		return process{}, false
	}
	var p process
	if b, err := io.ReadAll(io.LimitReader(f, signLimit)); err != nil || json.Unmarshal(b, &p) != nil {
		p = process{} // it has only just begun
	}
	return p, true
}

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
