package atelier

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"atelier/journal"
	"atelier/media"
	"atelier/run"
)

// lookEvery is how often a server looks for work whose process has ended.
const lookEvery = 2 * time.Second

// ServeConfig says how an [Atelier] serves.
type ServeConfig struct {
	// Listener is where /healthz and /readyz are answered; required. Serve closes it.
	Listener net.Listener
	// Grace is how long steps that have begun may take to end when the server is stopped.
	Grace time.Duration
}

// Serve takes up all runs and generations that nobody works on, until ctx ends; then it hands
// over what is under way to the next process. Config.TakeOver has to be set.
func (a *Atelier) Serve(ctx context.Context, c ServeConfig) error {
	service, err := a.Runs(ctx)
	if err != nil {
		return errors.Join(err, c.Listener.Close())
	}
	s := &server{Atelier: a, service: service, generations: map[string]generation{}, slots: make(chan struct{}, a.Config.RunsAtOnce)}
	return s.serve(ctx, c)
}

// server takes up what other processes left.
type server struct {
	*Atelier
	service *run.Service
	ready   atomic.Bool

	mu          sync.Mutex // guards generations
	generations map[string]generation
	work        sync.WaitGroup
	// slots bound how many generations are worked on at once.
	slots chan struct{}
}

// serve works until ctx ends.
func (s *server) serve(ctx context.Context, c ServeConfig) (err error) {
	h := &http.Server{Handler: s.handler(), ReadHeaderTimeout: 10 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- h.Serve(c.Listener) }()
	work, leave := context.WithCancelCause(context.WithoutCancel(ctx))
	defer leave(nil)
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		s.look(ctx, work)
		select {
		case <-tick.C:
			continue
		case err = <-failed:
		case <-ctx.Done():
		}
		break
	}
	s.ready.Store(false)
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.Grace)
	defer cancel()
	leave(journal.Leave(c.Grace))
	s.handOver(end)
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
