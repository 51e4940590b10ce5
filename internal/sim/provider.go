package sim

import (
	"cmp"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"atelier/media"
)

// Config is what tells one provider from another.
type Config struct {
	// Key is the accepted credential; required.
	Key string
	// Credential is the header that carries the key; required. Authorization carries it behind "Bearer ".
	Credential string
	// Query is the parameter of the URL that may carry the key instead; empty if none may.
	Query string
	// Now is the clock; default 2026-11-21 12:00 UTC, always.
	Now func() time.Time
	// PictureBytes pads every PNG to at least this many bytes; default no padding.
	PictureBytes int
	// Files and Routes are the documented endpoints that make something; see [Contract].
	Files  fs.FS
	Routes []Route
	// Script is what the provider answers to faults. It is asked with an empty call, too, for the number of
	// shapes. The first shape of [FaultUnauthorized] is the refusal of a wrong key.
	Script func(c *Call) Script
	// Absent says which faults the provider cannot have.
	Absent Absence
	// Refuse, if set, is the refusal of a wrong key instead.
	Refuse func(r *http.Request) Answer
	// Stamp, if set, adds the headers that every answer to a call has; number counts the calls from 1.
	Stamp func(h http.Header, number int)
}

// Provider is a simulated provider without its protocol: simulators embed it and add their endpoints with Make,
// Guard and HandleFunc. It is safe for concurrent use once the endpoints are there.
type Provider struct {
	*http.ServeMux
	Painter
	Shelf
	// Now is the clock.
	Now func() time.Time

	config   Config
	contract Contract
	journal  Journal
}

// Call is a request that makes something, as it was received.
type Call struct {
	*http.Request
	// Body is the whole body.
	Body []byte
	// Number counts the calls of a provider from 1.
	Number int
	// Fault is the fault that the call shows; the zero value if there is none.
	Fault Injection
}

// NewProvider makes a provider.
func NewProvider(c Config) *Provider {
	if c.Now == nil {
		c.Now = func() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }
	}
	p := &Provider{
		ServeMux: http.NewServeMux(), Painter: Painter{Bytes: c.PictureBytes}, Now: c.Now,
		config: c, contract: Contract{Files: c.Files, Routes: c.Routes, Key: c.Credential}, journal: Journal{credential: c.Credential},
	}
	p.now, p.sent = c.Now, p.journal.Record
	return p
}

// Key is the accepted key.
func (p *Provider) Key() string { return p.config.Key }

// Inject queues faults.
func (p *Provider) Inject(faults ...Injection) { p.journal.Inject(faults...) }

// Captured lists the calls that make something, in the order of arrival.
func (p *Provider) Captured() []Captured { return p.journal.Captured() }

// Record notes that a result is sent, for tests that compare bytes.
func (p *Provider) Record(r Picture) { p.journal.Record(r) }

// Sent lists the digests of the results that were sent, in order, previews left out.
func (p *Provider) Sent() []media.Digest { return p.journal.Sent() }

// Violation tells where a captured call departs from what the provider documents.
func (p *Provider) Violation(c Captured) error { return p.contract.Check(c) }

// Absent says why the provider cannot have a fault; empty for all others.
func (p *Provider) Absent(f Fault) string { return p.config.Absent[f] }

// Variants tells how many shapes a fault has; 0 for those that are absent.
func (p *Provider) Variants(f Fault) int {
	if p.Absent(f) != "" {
		return 0
	}
	return max(1, len(p.config.Script(&Call{Request: &http.Request{}})[f]))
}

// Make adds an endpoint that makes something: its calls are recorded, take a fault each, and are handled if their
// key is right and the fault lets them succeed.
func (p *Provider) Make(pattern string, handle func(http.ResponseWriter, *Call)) {
	p.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		if c := p.Begin(w, r, true); c != nil {
			handle(w, c)
		}
	})
}

// Begin records a call, checks its key and plays its fault, if it takes one. It gives nil for a call that is
// answered.
func (p *Provider) Begin(w http.ResponseWriter, r *http.Request, takesFault bool) *Call {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil
	}
	c := &Call{Request: r, Body: body, Number: p.journal.Capture(r, body)}
	if p.config.Stamp != nil {
		p.config.Stamp(w.Header(), c.Number)
	}
	if !p.authorized(w, r) {
		return nil
	}
	if takesFault {
		c.Fault = p.journal.Next()
	}
	if c.Fault.Fault != "" && p.config.Script(c).Play(w, c) {
		return nil
	}
	return c
}

// Guard adds an endpoint that needs the key, and makes nothing.
func (p *Provider) Guard(pattern string, handle http.HandlerFunc) {
	p.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		if p.authorized(w, r) {
			handle(w, r)
		}
	})
}

// authorized checks the key and answers if it is wrong.
func (p *Provider) authorized(w http.ResponseWriter, r *http.Request) bool {
	want := p.config.Key
	if p.config.Credential == "Authorization" {
		want = "Bearer " + want
	}
	if r.Header.Get(p.config.Credential) == want || p.config.Query != "" && r.URL.Query().Get(p.config.Query) == p.config.Key {
		return true
	}
	if p.config.Refuse != nil {
		p.config.Refuse(r).Write(w)
		return false
	}
	p.config.Script(&Call{Request: r})[FaultUnauthorized][0].Write(w)
	return false
}

// Accept answers a call that began a task: with the task, or with what the fault makes of the answer.
func Accept(w http.ResponseWriter, f Injection, task any) {
	switch f.Fault {
	case FaultHalfBody:
		HalfJSON(w, task)
	case FaultAnswerLost, FaultListLost:
		panic(http.ErrAbortHandler)
	default:
		JSON(w, http.StatusOK, task)
	}
}

// Origin is where a caller reached the provider: other, if it is set.
func Origin(r *http.Request, other string) string { return cmp.Or(other, "http://"+r.Host) }

// Serve serves a handler on loopback until the test ends and gives its URL.
func Serve(tb testing.TB, h http.Handler) string {
	tb.Helper()
	server := httptest.NewServer(h)
	tb.Cleanup(server.Close)
	return server.URL
}
