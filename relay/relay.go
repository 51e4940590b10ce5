// Package relay carries calls to providers in a process of its own, so that an answer that is
// paid for outlives the process that asked for it. Where a provider takes no idempotency key and
// lists no calls, nothing else can: the answer exists once, on one connection.
//
// [Relay] is the end in the program: a [journal.Relay], and an HTTP transport for what it carries.
// With its first call it begins its process, the same program, in which [Main] takes over. That
// process notes that it sends, sends, and keeps the answer in a folder, from which the program reads it
// when it is whole; streams of events it hands on as they come. It has a session of its own: signals for the
// program do not reach it, and when the program ends, in whatever way, it finishes what is under way
// and ends too. The next program finds the answers in the folder.
//
// A call is a file whose name is its state; each change is one renaming, so that of two who change
// it one wins:
//
//	ID.ready  prepared
//	ID.void   given up before it was sent, which it never will be
//	ID.sent   sent, locked while its process works on it
//	ID.body   the answer's body as far as it has come
//	ID.head   the rest of the answer, or the failure; written at the end
//
// The change from ready to sent is synced before anything is sent, so a loss of power forgets
// answers and never lets a call be made twice. The requests of a call after its first have names of
// their own: ID~2, ID~3. Keys of providers pass through the connection between the two processes,
// a socket in a folder that only the user can enter, and are not kept; request bodies of 1 MiB and
// more are in an unnamed file while they are sent. Errors of HTTP have the words of those of
// [http.Transport], not their types. An answer is kept up to 1 GiB, and 30 days where nobody
// releases it: a process removes what is older when it begins, and once a day.
//
// It works on Unix; elsewhere [New] gives [errors.ErrUnsupported]. It may import journal and
// internal/safehttp.
package relay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"time"

	"atelier/internal/safehttp"
	"atelier/journal"
)

// Config says where answers are kept and what the relay's process is.
type Config struct {
	// Folder keeps calls and their answers; it is made where it is missing, for this user only.
	// Programs that go on with each other's work share it. Required.
	Folder string
	// Program is what the process runs; default this program, as it is in memory where the system (Linux)
	// can begin that. Its main calls [Main] first.
	Program string
}

// Relay is one program's end. It is safe for concurrent use.
type Relay struct {
	spool   spool
	program string // empty means this one

	mu    sync.Mutex // guards below
	other *process   // nil until the first call
}

var _ journal.Relay = (*Relay)(nil)

// New makes a relay. No process is begun before the first call.
func New(c Config) (*Relay, error) {
	if !supported {
		return nil, fmt.Errorf("a relay on this system: %w", errors.ErrUnsupported)
	}
	if c.Folder == "" {
		return nil, errors.New("a relay needs a folder: set Config.Folder")
	}
	folder, err := filepath.Abs(c.Folder)
	if err != nil {
		return nil, err
	}
	return &Relay{spool: spool{folder}, program: c.Program}, nil
}

// Close lets the process go. Calls under way go on, and their answers are kept.
func (r *Relay) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.other == nil {
		return nil
	}
	err := r.other.release()
	r.other = nil
	return err
}

// Prepare implements [journal.Relay]. It begins the process where it is missing.
func (r *Relay) Prepare(id string) error {
	if err := check(id); err != nil {
		return err
	}
	return r.prepare(id)
}

func (r *Relay) prepare(id string) error {
	if err := os.MkdirAll(r.spool.folder, 0o700); err != nil {
		return err
	}
	if _, err := r.process(); err != nil {
		return err
	}
	return r.spool.prepare(id)
}

// process is the relay's process, begun again if it cannot be reached.
func (r *Relay) process() (*process, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.other != nil && r.other.living() {
		return r.other, nil
	}
	p, err := begin(r.program, r.spool.folder)
	if err != nil {
		return nil, err
	}
	if r.other != nil {
		_ = r.other.release() // it ends, if it has not
	}
	r.other = p
	return p, nil
}

// lookEvery is how often a call of another process is looked at.
const lookEvery = 50 * time.Millisecond

// Fate implements [journal.Relay].
func (r *Relay) Fate(ctx context.Context, id string) journal.Fate {
	if check(id) != nil {
		return journal.FateUnknown
	}
	return await(ctx, func() journal.Fate { return r.fate(id) })
}

// await looks at a call until it is not under way any more, or ctx ends.
func await(ctx context.Context, look func() journal.Fate) journal.Fate {
	for {
		fate := look()
		if fate != journal.FateUnderWay || (journal.Memory{}).Sleep(ctx, lookEvery) != nil {
			return fate
		}
	}
}

// fate is that of the last request of a call. One that was not sent is sent when those before it
// are recalled.
func (r *Relay) fate(id string) journal.Fate {
	n := 1
	for r.spool.knows(part(id, n+1)) {
		n++
	}
	fate := r.spool.fate(part(id, n))
	if n > 1 && fate == journal.FateUnsent {
		fate = journal.FateAnswered
	}
	return fate
}

// Forget implements [journal.Relay].
func (r *Relay) Forget(id string) {
	if check(id) != nil {
		return
	}
	for n := 1; n == 1 || r.spool.knows(part(id, n)); n++ {
		r.spool.remove(part(id, n))
	}
}

// Transport carries POST requests whose context is that of a call, and hands all others to base;
// nil means [safehttp.Transport], which the relay's process has as well.
func (r *Relay) Transport(base http.RoundTripper) *Transport {
	return &Transport{relay: r, base: cmp.Or(base, safehttp.Transport())}
}

// idForm keeps ids of calls fit for names of files, partForm those of their requests, see part.
var (
	idForm   = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z_-]{0,127}$`)
	partForm = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z_-]{0,127}(~[1-9][0-9]{0,8})?$`)
)

func check(id string) error {
	if !idForm.MatchString(id) {
		return errors.New("the id of a call has 1 to 128 letters, digits, - and _")
	}
	return nil
}
