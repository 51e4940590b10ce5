//go:build unix

// Package pgtest gives a test its own PostgreSQL server: a real server in a temporary directory, reachable only by a
// socket in that directory, stopped and removed when the test ends or its process dies.
//
// It needs the programs initdb and postgres, 15 or newer, in PATH or in Debian's directory for
// them, and fails the test if they are missing: tests that use it carry the build tag postgres. It
// imports the standard library and the PostgreSQL driver.
package pgtest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	// The driver registers itself as "pgx".
	_ "github.com/jackc/pgx/v5/stdlib"
)

// Guest is a role that needs the password [GuestPassword]; it owns nothing. All other roles are trusted.
const (
	Guest         = "guest"
	GuestPassword = "sesame"
)

const (
	superuser = "postgres"
	// startLimit is a time that a start exceeds only if it hangs.
	startLimit = time.Minute
	// logKept is the number of bytes of the server's log that a failed start shows.
	logKept = 4000
)

// watchdog creates a cluster if there is none, with linguistic instead of bytewise sorting, and
// runs the server until its input ends, at the latest with the test's process. It then removes the
// directory, unless told to keep it. It leads a process group and tells the whole group to quit.
const watchdog = `dir=$1 bin=$2
trap : QUIT
{
	[ -e "$dir/made" ] || "$bin/initdb" -D "$dir/data" -U postgres -A trust -E UTF8 --locale=C \
		--locale-provider=icu --icu-locale=en-US --no-sync --no-instructions >/dev/null && : >"$dir/made" &&
	exec "$bin/postgres" -D "$dir/data" -k "$dir" -h "" -F -c hba_file="$dir/pg_hba.conf" -c full_page_writes=off \
		-c max_connections=900 -c shared_buffers=32MB -c autovacuum=off
} & server=$!
read -r word
kill -QUIT 0
while kill -0 $server 2>/dev/null; do wait $server; done
[ "$word" = keep ] || rm -rf "$dir"`

// Server is one PostgreSQL server. Its methods must be called from the test's own goroutine, except [Server.Database].
type Server struct {
	dir, bin string
	as       *syscall.SysProcAttr
	running  *running
}

// running is a running instance of the server.
type running struct {
	stdin io.WriteCloser
	done  chan struct{} // closed when the processes have ended
	log   strings.Builder
}

// Start starts a server for one test.
func Start(tb testing.TB) *Server {
	tb.Helper()
	s, err := start()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.remove)
	return s
}

// serverVariable names the environment variable with the directory of [Main]'s server.
const serverVariable = "PGTEST_SERVER"

// Main runs the tests of a package with one server, on which [Database] creates databases, and returns the exit code.
func Main(m *testing.M) int {
	s, err := start()
	if err != nil {
		_, _ = io.WriteString(os.Stderr, "pgtest: "+err.Error()+"\n")
		return 1
	}
	defer s.remove()
	if err := os.Setenv(serverVariable, s.dir); err != nil {
		_, _ = io.WriteString(os.Stderr, "pgtest: "+err.Error()+"\n")
		return 1
	}
	return m.Run()
}

func start() (*Server, error) {
	bin, err := programs()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "pgtest-")
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, bin: bin, as: &syscall.SysProcAttr{Setpgid: true}}
	if err := s.begin(); err != nil {
		s.remove()
		return nil, err
	}
	return s, nil
}

func (s *Server) begin() error {
	if os.Geteuid() == 0 {
		var err error
		if s.as.Credential, err = unprivileged(s.dir); err != nil {
			return err
		}
	}
	rules := "local all " + Guest + " scram-sha-256\nlocal all all trust\n"
	if err := os.WriteFile(filepath.Join(s.dir, "pg_hba.conf"), []byte(rules), 0o644); err != nil { //nolint:gosec // readable by the server's user
		return err
	}
	if err := s.up(); err != nil {
		return err
	}
	return s.execute("CREATE ROLE " + Guest + " LOGIN PASSWORD '" + GuestPassword + "'")
}

// remove stops the server and removes its data.
func (s *Server) remove() {
	s.stop("remove\n")
	_ = os.RemoveAll(s.dir) // the watchdog did it, unless the server never ran
}

// programs returns the directory of initdb and postgres.
func programs() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path), nil
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // the pattern is valid
	if len(found) == 0 {
		return "", errors.New("these tests need PostgreSQL's initdb and postgres, 15 or newer: apt-get install postgresql, or put them into PATH")
	}
	version := func(path string) int {
		n, _ := strconv.Atoi(strings.Split(path, "/")[4]) // 0 for an unexpected name
		return n
	}
	return filepath.Dir(slices.MaxFunc(found, func(a, b string) int { return version(a) - version(b) })), nil
}

// unprivileged returns a user for a server that refuses to run as root, and gives it the directory.
func unprivileged(dir string) (*syscall.Credential, error) {
	u, err := user.Lookup(superuser)
	if err != nil {
		u, err = user.Lookup("nobody")
	}
	if err != nil {
		return nil, fmt.Errorf("PostgreSQL refuses to run as root, and there is neither a user postgres nor nobody: %w", err)
	}
	uid, uerr := strconv.ParseUint(u.Uid, 10, 31)
	gid, gerr := strconv.ParseUint(u.Gid, 10, 31)
	if err := errors.Join(uerr, gerr); err != nil {
		return nil, err
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, os.Chown(dir, int(uid), int(gid))
}

// Restart starts the server again after [Server.Stop] and waits until it is ready.
func (s *Server) Restart(tb testing.TB) {
	tb.Helper()
	if err := s.up(); err != nil {
		tb.Fatal(err)
	}
}

func (s *Server) up() error {
	c := exec.CommandContext(context.Background(), "/bin/sh", "-c", watchdog, "watchdog", s.dir, s.bin) //nolint:gosec // runs only this package's script and the PostgreSQL programs
	c.Dir, c.SysProcAttr = s.dir, s.as
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC"}
	stdin, err := c.StdinPipe()
	if err != nil {
		return err
	}
	stderr, err := c.StderrPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return fmt.Errorf("start PostgreSQL: %w", err)
	}
	r := &running{stdin: stdin, done: make(chan struct{})}
	ready := make(chan struct{})
	go func() {
		defer close(r.done)
		r.read(stderr, ready)
		_ = c.Wait() // the exit status after quit does not matter
	}()
	s.running = r
	select {
	case <-ready:
		return nil
	case <-r.done:
		return fmt.Errorf("PostgreSQL did not start:\n%s", r.log.String())
	case <-time.After(startLimit):
		return errors.New("PostgreSQL does not come up")
	}
}

// read keeps the beginning of the log and signals when the server accepts connections.
func (r *running) read(log io.Reader, ready chan<- struct{}) {
	announced := false
	for lines := bufio.NewScanner(log); lines.Scan(); {
		line := lines.Text()
		if r.log.Len() < logKept {
			r.log.WriteString(line + "\n")
		}
		if !announced && strings.Contains(line, "ready to accept connections") {
			announced = true
			close(ready)
		}
	}
	_, _ = io.Copy(io.Discard, log) // after an overlong line, so that the server never blocks
}

// Stop ends the server immediately, like a crash. Its data is kept.
func (s *Server) Stop() { s.stop("keep\n") }

func (s *Server) stop(word string) {
	if s.running == nil {
		return
	}
	_, _ = io.WriteString(s.running.stdin, word) // fails only if it is already dead
	_ = s.running.stdin.Close()
	<-s.running.done
	s.running = nil
}
