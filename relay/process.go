package relay

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// folderVariable makes a process one of a relay, see [Main].
const folderVariable = "ATELIER_RELAY_PROCESS"

// reachTime is how long the process is given to be reached.
const reachTime = 2 * time.Second

// process is the relay's process as its program sees it.
type process struct {
	folder string    // of the socket
	life   io.Closer // closing it, in whatever way, tells the process that nobody asks any more
	ended  chan struct{}
	client *http.Transport
}

// begin starts a process that serves calls on a socket of its own.
func begin(program, folder string) (*process, error) {
	if program == "" {
		var err error
		if program, err = self(); err != nil {
			return nil, err
		}
	}
	dir, err := socketFolder()
	if err != nil {
		return nil, err
	}
	p, err := start(program, folder, dir)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return p, nil
}

// commonTemporary is where a socket finds its place if it has none where the environment says.
const commonTemporary = "/tmp"

// socketFolder makes the folder of a socket.
func socketFolder() (string, error) {
	dir, err := os.MkdirTemp(place(os.TempDir()), "atelier-")
	if err == nil {
		return dir, nil
	}
	if dir, other := os.MkdirTemp(commonTemporary, "atelier-"); other == nil {
		return dir, nil
	}
	return "", err
}

// place is where the folder of a socket is made: the name of a socket has little room.
func place(temporary string) string {
	const most = 70 // of 104, or 108
	if len(temporary) > most {
		return commonTemporary
	}
	return temporary
}

// self is what the process of this program runs: the program as it is now, also where its file was
// replaced or removed since it began, if the system still has that.
func self() (string, error) {
	const running = "/proc/self/exe" // Linux
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	if _, missing := os.Stat(running); missing == nil && !same(path, running) {
		return running, nil
	}
	return path, nil // a name that people know
}

// same reports whether two paths lead to one file.
func same(one, other string) bool {
	a, errA := os.Stat(one)
	b, errB := os.Stat(other)
	return errA == nil && errB == nil && os.SameFile(a, b)
}

func start(program, folder, dir string) (*process, error) {
	address := &net.UnixAddr{Name: filepath.Join(dir, "relay"), Net: "unix"}
	l, err := net.ListenUnix("unix", address)
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	defer func() { _ = l.Close() }() // the process has its own
	f, err := l.File()
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	cmd := exec.Command(program) //nolint:gosec,noctx // The operator's own program; it outlives every context.
	cmd.Env = append(os.Environ(), folderVariable+"="+folder)
	cmd.ExtraFiles = []*os.File{f}
	apart(cmd)
	life, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, life.Close())
	}
	p := &process{folder: dir, life: life, ended: make(chan struct{}), client: dialing(address)}
	go func() {
		_ = cmd.Wait() // however it ended, it is begun again when it is needed
		close(p.ended)
	}()
	return p, nil
}

// dialing gives a client of the socket. A connection is not used for a second call once the other
// side may have closed it: it never does while the program lives.
func dialing(address *net.UnixAddr) *http.Transport {
	return &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, address.Net, address.Name)
		},
		DisableCompression: true, MaxIdleConnsPerHost: 64, IdleConnTimeout: headerTime / 2,
	}
}

// living reports whether the process can be reached: a moment after its end nobody has told yet that
// it has ended, and who cleans up what is temporary may have taken its socket.
func (p *process) living() bool {
	if p.over() {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), reachTime)
	defer cancel()
	c, err := p.client.DialContext(ctx, "", "")
	if err != nil {
		return false
	}
	_ = c.Close() // it was a question
	return true
}

// over reports whether the process is known to have ended.
func (p *process) over() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// release lets the process end when it has done what is under way.
func (p *process) release() error {
	p.client.CloseIdleConnections()
	err := p.life.Close()
	if errors.Is(err, os.ErrClosed) { // it had ended
		err = nil
	}
	return errors.Join(err, os.RemoveAll(p.folder))
}
