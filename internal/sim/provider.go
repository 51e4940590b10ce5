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

// Config configures a provider.
type Config struct {
	// Key is the accepted credential; required.
	Key string
	// Credential is the header with the key; required. Authorization has the key after "Bearer ".
	Credential string
	// Query is the URL parameter that may contain the key instead; empty if none may.
	Query string
	// Now is the clock; by default it always returns 2026-11-21 12:00 UTC.
	Now func() time.Time
	// PictureBytes is the minimum size of every PNG in bytes, reached by padding; by default there is no padding.
	PictureBytes int
	// Files and Routes describe the documented endpoints that create something; see [Contract].
	Files  fs.FS
	Routes []Route
	// Script returns the provider's answers to faults. It is also called with an empty call, for
	// the number of forms. The first form of [FaultUnauthorized] is the refusal of a wrong key.
	Script func(c *Call) Script
	// Absent lists the faults that the provider cannot have.
	Absent Absence
	// Refuse, if set, overrides the refusal of a wrong key.
	Refuse func(r *http.Request) Answer
	// Stamp, if set, adds the headers of every answer to a call; number counts the calls from 1.
	Stamp func(h http.Header, number int)
}

// Provider is a simulated provider without a protocol: simulators embed it and add their endpoints
// with Make, Guard and HandleFunc. It is safe for concurrent use once the endpoints are added.
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

// Call is a received request that creates something.
type Call struct {
	*http.Request
	// Body is the whole body.
	Body []byte
	// Number counts the calls of a provider from 1.
	Number int
	// Fault is the fault that the call must show; the zero value if there is none.
	Fault Injection
}

// NewProvider returns a provider.
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

// Key returns the accepted key.
func (p *Provider) Key() string { return p.config.Key }

// Inject queues faults.
func (p *Provider) Inject(faults ...Injection) { p.journal.Inject(faults...) }

// Captured returns the calls that create something, in order of arrival.
func (p *Provider) Captured() []Captured { return p.journal.Captured() }

// Record records that a result is sent, for tests that compare bytes.
func (p *Provider) Record(r Picture) { p.journal.Record(r) }

// Sent returns the digests of the results that were sent, in order, without previews.
func (p *Provider) Sent() []media.Digest { return p.journal.Sent() }

// Violation returns an error if a captured call violates the provider's documentation.
func (p *Provider) Violation(c Captured) error { return p.contract.Check(c) }

// Absent returns why the provider cannot have a fault; empty if it can.
func (p *Provider) Absent(f Fault) string { return p.config.Absent[f] }

// Variants returns the number of forms of a fault; 0 for absent faults.
func (p *Provider) Variants(f Fault) int {
	if p.Absent(f) != "" {
		return 0
	}
	return max(1, len(p.config.Script(&Call{Request: &http.Request{}})[f]))
}

// Make adds an endpoint that creates something: each call is recorded, takes a fault, and is
// handled if its key is correct and the fault lets it succeed.
func (p *Provider) Make(pattern string, handle func(http.ResponseWriter, *Call)) {
	p.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		if c := p.Begin(w, r, true); c != nil {
			handle(w, c)
		}
	})
}

// Begin records a call, checks its key and plays its fault, if it takes one. It returns nil if the call was answered.
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

// Guard adds an endpoint that requires the key and creates nothing.
func (p *Provider) Guard(pattern string, handle http.HandlerFunc) {
	p.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		if p.authorized(w, r) {
			handle(w, r)
		}
	})
}

// authorized checks the key and sends the refusal if it is wrong.
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

// Accept answers a call that started a task: with the task, or with what the fault makes of the answer.
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

// Origin returns the origin at which a caller reached the provider, or other if it is set.
func Origin(r *http.Request, other string) string { return cmp.Or(other, "http://"+r.Host) }

// Serve serves a handler on loopback until the test ends and returns its URL.
func Serve(tb testing.TB, h http.Handler) string {
	tb.Helper()
	server := httptest.NewServer(h)
	tb.Cleanup(server.Close)
	return server.URL
}
