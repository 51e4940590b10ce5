package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"atelier"
	"atelier/internal/shipped"
	"atelier/media"
	"atelier/web"
)

// defaultListen is the default address of serve.
const defaultListen = "127.0.0.1:8484"

type serveCmd struct {
	Listen    string        `help:"The address to listen on. Any address except loopback requires access tokens (atelier tokens). The default is ATELIER_LISTEN, or 127.0.0.1:8484." placeholder:"HOST:PORT"`
	Grace     time.Duration `help:"How long running steps may take to finish when the server is stopped. The next server continues the rest." default:"30s"`
	Workflows string        `help:"A folder of workflows to offer in addition to the examples." placeholder:"DIR"`
	Partials  bool          `help:"Request previews of unfinished pictures, which the web pages show. Some providers charge for them."`
	LogJSON   bool          `name:"log-json" help:"Log every request to standard error, one JSON object per line."`
}

// listenAddress returns the address of serve: that of the flag, else of ATELIER_LISTEN, else the default.
func (w *world) listenAddress(flag string) (*net.TCPAddr, error) {
	address := cmp.Or(flag, w.env("ATELIER_LISTEN"), defaultListen)
	at, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, media.Errorf(media.CodeInvalid, "--listen or ATELIER_LISTEN: %w: give host and port, for example %s", err, defaultListen)
	}
	return at, nil
}

// Run serves until it is stopped.
func (c *serveCmd) Run(w *world) error {
	address, err := w.listenAddress(c.Listen)
	config, unset := atelier.ServeConfigFromEnv(w.env)
	_, unread := shipped.Workflows(c.Workflows, shipped.Modules())
	if err = cmp.Or(err, unset, unread); err != nil {
		return err
	}
	note := w.note
	if c.LogJSON {
		logJSONTo(w.stderr)
		note = func(format string, args ...any) { slog.Info(fmt.Sprintf(format, args...)) } //nolint:sloglint // the text for people
	}
	err = w.withApp(appConfig{adopt: true, partials: c.Partials}, func(a *app) error {
		if _, err := a.Runs(w.ctx); err != nil {
			return err
		}
		listener, err := (&net.ListenConfig{}).Listen(w.ctx, "tcp", address.String())
		if err != nil {
			return media.Errorf(media.CodeInvalid, "listen on %s: %w (choose another port with --listen)", address, err)
		}
		if _, err := a.NeedsTokens(listener.Addr()); err != nil {
			return errors.Join(err, listener.Close())
		}
		note("serving on http://%s", listener.Addr())
		if w.json {
			if err := w.printJSON(map[string]string{"url": "http://" + listener.Addr().String()}); err != nil {
				return errors.Join(err, listener.Close())
			}
		}
		defer context.AfterFunc(w.ctx, func() { note("stopping; the next process continues the unfinished work") })()
		config.Listener, config.Grace, config.Version, config.Pages, config.Workflows = listener, c.Grace, version, web.Pages(), c.Workflows
		return a.Serve(w.ctx, config)
	})
	if w.ctx.Err() != nil && media.CodeOf(err) == media.CodeCancelled {
		return nil // stopped while it was starting
	}
	return err
}
