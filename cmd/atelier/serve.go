package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"atelier/generate"
	"atelier/journal"
	"atelier/media"
	"atelier/run"
)

// defaultListen is where serve listens if nobody says.
const defaultListen = "127.0.0.1:8320"

// lookEvery is how often serve looks for work whose process has ended.
const lookEvery = 2 * time.Second

type serveCmd struct {
	Listen string        `help:"Where to answer /healthz and /readyz: an address of this machine and a port. Default: ATELIER_LISTEN, else 127.0.0.1:8320." placeholder:"HOST:PORT"`
	Grace  time.Duration `help:"How long steps that have begun may take to end when the server is stopped; the rest goes on in the next one." default:"30s"`
}

// Run serves until it is told to stop.
func (c *serveCmd) Run(w *world) error {
	address := cmp.Or(c.Listen, w.env("ATELIER_LISTEN"), defaultListen)
	if err := loopback(address); err != nil {
		return err
	}
	var observer *run.Observer
	events := func(ctx context.Context, e generate.Event) {
		if observer != nil && ctx.Value(afterwards{}) == nil {
			observer.Progress(ctx, e)
		}
	}
	return w.withApp(appConfig{events: events}, func(a *app) error {
		crew, err := a.crew(w.ctx, crewConfig{durable: true, takesOver: true, events: events})
		if err != nil {
			return err
		}
		defer crew.outfit.close()
		observer = crew.observer
		s := &server{
			app: a, service: crew.service, observer: crew.observer, generations: map[string]generation{}, slots: make(chan struct{}, a.settings.runsAtOnce),
		}
		return s.serve(w, address, c.Grace)
	})
}

// loopback refuses addresses that others can reach: nothing here asks who they are.
func loopback(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return media.Errorf(media.CodeInvalid, "--listen %q: give host and port, for instance %s", address, defaultListen)
	}
	ip, err := netip.ParseAddr(host)
	if host != "localhost" && (err != nil || !ip.IsLoopback()) {
		return media.Errorf(media.CodeInvalid, "--listen %s: this version listens on addresses of this machine only, for instance %s", address, defaultListen)
	}
	return nil
}

// server goes on with what other processes left.
type server struct {
	app      *app
	service  *run.Service
	observer *run.Observer
	ready    atomic.Bool

	mu          sync.Mutex // guards generations
	generations map[string]generation
	work        sync.WaitGroup
	// slots bound how many generations go on at once.
	slots chan struct{}
}

// serve works until w.ctx ends, then hands over what is under way.
func (s *server) serve(w *world, address string, grace time.Duration) error {
	listener, err := (&net.ListenConfig{}).Listen(w.ctx, "tcp", address)
	if err != nil {
		s.service.Close()
		return media.Errorf(media.CodeInvalid, "listen on %s: %w (choose another port with --listen)", address, err)
	}
	h := &http.Server{Handler: s.handler(), ReadHeaderTimeout: 10 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- h.Serve(listener) }()
	w.note("serving on http://%s", listener.Addr())
	ctx, leave := context.WithCancelCause(context.WithoutCancel(w.ctx))
	defer leave(nil)
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		s.look(w.ctx, ctx)
		select {
		case <-tick.C:
			continue
		case err = <-failed:
		case <-w.ctx.Done():
		}
		break
	}
	s.ready.Store(false)
	w.note("stopping: what is under way goes on in the next process")
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	leave(journal.Leave(grace))
	s.service.HandOver(end)
	s.work.Wait()
	if err := s.observer.Flush(end); err != nil {
		slog.WarnContext(end, "last events not saved", slog.String("error", media.ErrorText(err.Error())))
	}
	if stopped := h.Shutdown(end); err == nil {
		err = stopped
	}
	if err != nil && !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, context.DeadlineExceeded) {
		return media.Errorf(media.CodeInternal, "serve: %w", err)
	}
	return nil
}

// handler answers those who watch the process.
func (s *server) handler() http.Handler {
	mux := http.NewServeMux()
	say := func(w http.ResponseWriter, status int, text string) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text+"\n")
	}
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { say(w, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if err := s.service.Healthy(r.Context()); err != nil {
			say(w, http.StatusServiceUnavailable, "the database cannot be used")
			return
		}
		if !s.ready.Load() {
			say(w, http.StatusServiceUnavailable, "starting or stopping")
			return
		}
		say(w, http.StatusOK, "ready")
	})
	return mux
}

// look takes over what has lost its process, until ctx ends; work is the context of what
// was taken over.
func (s *server) look(ctx, work context.Context) {
	err := s.service.Healthy(ctx)
	if err == nil {
		_, err = s.service.TakeOver(ctx)
	}
	if err == nil {
		err = s.takeGenerations(ctx, work)
	}
	s.ready.Store(err == nil)
	if err != nil && ctx.Err() == nil {
		slog.WarnContext(ctx, "work left by other processes not read", slog.String("error", media.ErrorText(err.Error())))
	}
}
