package atelier

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"atelier/api"
	"atelier/internal/recent"
	"atelier/internal/shipped"
	"atelier/journal"
	"atelier/media"
	"atelier/run"
	"atelier/run/generations"
)

// adoptInterval is the interval at which a server looks for work of dead processes.
const adoptInterval = 2 * time.Second

// ServeConfig is the configuration of [Atelier.Serve].
type ServeConfig struct {
	// Listener accepts connections. Serve closes it. If it is nil, Wrap is required: the program serves the handler that
	// Wrap receives, such as behind http.StripPrefix. The web UI and the links in responses need the root.
	Listener net.Listener
	// Tokens identifies the access tokens that requests require; required with Config.PublicURL and without Listener. nil
	// means those of the data folder if the address of Listener requires them, else that Config.Owner sends all requests.
	Tokens api.TokenService
	// Version is the program's version, which the server reports.
	Version string
	// Hosts are the host names of the server, in addition to the loopback names.
	Hosts []string
	// MaxUpload is the maximum size of an upload, in bytes; 0 means 4 GiB. Pictures and documents have lower limits.
	MaxUpload int64
	// RequestsPerSecond is the average number of requests that each client may send if tokens are required; 0 means 50,
	// a negative number means no limit.
	RequestsPerSecond float64
	// Pages is the built web UI; nil means none.
	Pages fs.FS
	// Workflows is a folder of workflows that are offered in addition to the examples; empty means none. Files with
	// problems are logged when the server starts and are listed with their first problem.
	Workflows string
	// Wrap adds routes or middleware around the server's handler; nil means none.
	Wrap func(http.Handler) http.Handler
	// Grace is how long running steps may continue when the server stops.
	Grace time.Duration
}

// Serve serves the API over HTTP and adopts runs and generations of dead processes until ctx ends or the Atelier is
// closed. It then hands over running work to the next process, and this Atelier starts no more runs. Config.Adopt must
// be set. [Stores.NeedsTokens] reports whether requests require access tokens.
func (a *Atelier) Serve(ctx context.Context, c ServeConfig) error {
	switch {
	case c.Listener != nil:
		defer func() { _ = c.Listener.Close() }() // again, if the server has closed it
	case c.Wrap == nil:
		return media.Errorf(media.CodeInvalid, "atelier.ServeConfig.Listener is missing: give one, or serve the handler that Wrap receives")
	case c.Tokens == nil && a.Config.PublicURL != "":
		return media.Errorf(media.CodeInvalid, "atelier.ServeConfig.Tokens is missing: Config.PublicURL says that other machines can reach the server")
	}
	ctx, leave, err := a.runs.admit(ctx, &a.runs.servers)
	if err != nil {
		return err
	}
	defer leave()
	if c.Tokens == nil && c.Listener != nil {
		var required bool
		if required, err = a.NeedsTokens(c.Listener.Addr()); required {
			c.Tokens = servedTokens{a.tokens()}
		}
	}
	if !a.Config.Adopt {
		err = media.Errorf(media.CodeInvalid, "atelier.Config.Adopt is not set: a server adopts the work of dead processes")
	}
	offered, unread := shipped.Workflows(c.Workflows, a.workflows.Modules())
	err = cmp.Or(err, unread)
	for _, f := range offered {
		if f.Definition == nil {
			slog.WarnContext(ctx, "workflow not offered", slog.String("problem", media.ErrorText(f.Problems[0].String())))
		}
	}
	var service *run.Service
	if err == nil {
		service, err = a.Runs(ctx)
	}
	if err != nil {
		return err
	}
	s := newServer(a, service)
	s.multiTenant = c.Tokens != nil
	defer a.runs.stopServing()
	return s.serve(ctx, c)
}

// newServer creates a server with its kinds of work.
func newServer(a *Atelier, service *run.Service) *server {
	s := &server{Atelier: a, service: service}
	s.kinds = []run.Kind{service, generations.New(generations.Config{Gateway: a.Gateway, Ledger: a.Ledger, Leases: a.leases, AtOnce: a.Config.RunsAtOnce, Go: s.work.Go}), kindFunc(a.workflows.Expire), a.subActions}
	return s
}

// kindFunc implements a kind of work as a function.
type kindFunc func(ctx context.Context) (int, error)

func (f kindFunc) Adopt(ctx context.Context) (int, error) { return f(ctx) }

// server serves requests and adopts work of dead processes.
type server struct {
	*Atelier
	service *run.Service
	ready   atomic.Bool
	// multiTenant means that requests require tokens, so that there may be several owners.
	multiTenant bool
	// kinds are the kinds of work that the server adopts.
	kinds []run.Kind
	// work waits for the background work.
	work sync.WaitGroup
}

// serve serves until ctx ends.
func (s *server) serve(ctx context.Context, c ServeConfig) (err error) {
	following, unfollow := context.WithCancel(context.WithoutCancel(ctx))
	defer unfollow()
	streams := &hubs{server: s, ctx: following, all: map[string]*api.Hub{}}
	streams.hubFor(ctx)
	s.work.Go(func() { s.countRuns(following) })
	work, leave := context.WithCancelCause(context.WithoutCancel(ctx))
	defer leave(nil)
	defer context.AfterFunc(ctx, func() { leave(journal.HandOver(c.Grace)) })()
	var handler http.Handler = api.New(s.api(work, c, streams))
	if c.Wrap != nil {
		handler = c.Wrap(handler)
	}
	h := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10}
	failed := make(chan error, 1)
	if c.Listener != nil {
		go func() { failed <- h.Serve(c.Listener) }()
	}
	tick := time.NewTicker(adoptInterval)
	defer tick.Stop()
	freeStart := sync.OnceFunc(debug.FreeOSMemory) // the garbage of start-up exceeds that of an idle server
	for {
		s.adoptAll(work)
		freeStart()
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
	leave(journal.HandOver(c.Grace))
	s.runs.handOver(end)
	s.subActions.HandOver(journal.HandOver(c.Grace))
	unfollow() // streams end; their readers reconnect to the next process
	s.work.Wait()
	flushed, done := context.WithTimeout(context.WithoutCancel(ctx), max(c.Grace, 5*time.Second)) // without a grace period, too
	defer done()
	if err := s.observer.Flush(flushed); err != nil {
		slog.WarnContext(end, "last events not saved", slog.String("error", media.ErrorText(err.Error())))
	}
	if stopped := h.Shutdown(end); err == nil {
		err = stopped
	}
	_ = h.Close() // requests that outlast the grace period are cut off: the caller closes the Atelier next
	if err != nil && !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, context.DeadlineExceeded) {
		return media.Errorf(media.CodeInternal, "serve: %w", err)
	}
	return nil
}

// api returns the configuration of the API. work is the context of the work that requests start.
func (s *server) api(work context.Context, c ServeConfig, streams *hubs) api.Config {
	var hooks api.HookService
	if s.Config.PublicURL != "" {
		hooks = servedHooks{s.Atelier}
	}
	return api.Config{
		Hooks: hooks, Samples: streams.samples, RequestsPerSecond: c.RequestsPerSecond, PublicURL: s.Config.PublicURL, Tokens: c.Tokens, LinkKey: []byte(s.deriveSecret("media links")), Now: now,
		Version: c.Version, Hosts: c.Hosts, MaxUpload: c.MaxUpload, Pages: c.Pages,
		Health: servedHealth{servedCatalog{s.Atelier}, s}, Catalog: servedCatalog{s.Atelier},
		Media: &servedMedia{
			Atelier: s.Atelier, thumbnails: make(chan struct{}, 2),
			contentCache: recent.Cache[openedKey, api.Content]{For: 500 * time.Millisecond, Limit: 4096},
		},
		Runs: servedRuns{s}, Trace: servedTrace{servedRuns{s}}, Conversations: servedConversations{s.Atelier}, Generations: &servedGenerations{server: s, base: work, streams: streams},
		Workflows: servedWorkflows{s.Atelier, c.Workflows}, WorkflowRuns: servedWorkflowRuns{servedRuns{s}, c.Workflows}, Interactions: servedInteractions{s.Atelier}, SubActions: servedSubActions{s.Atelier},
		Budgets: servedCatalog{s.Atelier}, Events: streams.hubFor, Keys: servedKeys{s.Atelier},
	}
}

// servedHealth reports the state of the server.
type servedHealth struct {
	servedCatalog
	server *server
}

// Ready returns nil if the server can work.
func (h servedHealth) Ready(ctx context.Context) error {
	if err := h.server.service.Healthy(ctx); err != nil {
		return media.Errorf(media.CodeUnavailable, "the database cannot be used")
	}
	if !h.server.ready.Load() {
		return media.Errorf(media.CodeUnavailable, "starting or stopping")
	}
	return nil
}

// adoptAll adopts work of each kind. An error of one kind does not affect the others.
func (s *server) adoptAll(ctx context.Context) {
	err := s.service.Healthy(ctx)
	if err == nil {
		for _, kind := range s.kinds {
			_, failed := kind.Adopt(ctx)
			err = errors.Join(err, failed)
		}
	}
	s.ready.Store(err == nil)
	if err != nil && ctx.Err() == nil {
		slog.WarnContext(ctx, "work of other processes not read", slog.String("error", media.ErrorText(err.Error())))
	}
}
