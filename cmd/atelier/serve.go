package main

import (
	"cmp"
	"context"
	"net"
	"net/netip"
	"time"

	"atelier"
	"atelier/media"
)

// defaultListen is where serve listens if nobody says.
const defaultListen = "127.0.0.1:8320"

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
	return w.withApp(appConfig{takeOver: true}, func(a *app) error {
		if _, err := a.Runs(w.ctx); err != nil {
			return err
		}
		listener, err := (&net.ListenConfig{}).Listen(w.ctx, "tcp", address)
		if err != nil {
			return media.Errorf(media.CodeInvalid, "listen on %s: %w (choose another port with --listen)", address, err)
		}
		w.note("serving on http://%s", listener.Addr())
		defer context.AfterFunc(w.ctx, func() { w.note("stopping: what is under way goes on in the next process") })()
		return a.Serve(w.ctx, atelier.ServeConfig{Listener: listener, Grace: c.Grace})
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
