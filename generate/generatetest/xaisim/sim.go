// Package xaisim simulates xAI's images endpoints: POST /v1/images/generations and
// /v1/images/edits, both in JSON. It checks keys, fields and pictures, refuses sizes in pixels,
// retires models by date, names the cost of each call in ticks and answers faults in xAI's
// own words. Its pictures are real JPEG files of the ratio and the resolution that were asked
// for, as data or by link.
//
// It has no errors of its own. It is a test package: nothing that ships imports it.
package xaisim

import (
	"fmt"
	"io"
	"net/http"
	"time"

	"atelier/generate/generatetest"
	"atelier/generate/generatetest/simulate"
	"atelier/media"
)

// Config sets up a [Simulator]; the zero value is good.
type Config struct {
	// Key is the accepted key; default "xai-simulated".
	Key string
	// Now is the clock for life cycles; default 2026-11-21 12:00 UTC, always.
	Now func() time.Time
}

// Simulator is xAI on loopback.
type Simulator struct {
	config   Config
	journal  simulate.Journal
	contract *simulate.Contract
	painter  simulate.Painter
	mux      *http.ServeMux
}

var _ generatetest.Simulator = (*Simulator)(nil)

// New makes a simulator.
func New(c Config) *Simulator {
	if c.Key == "" {
		c.Key = "xai-simulated"
	}
	if c.Now == nil {
		c.Now = func() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }
	}
	s := &Simulator{contract: contract(), config: c, mux: http.NewServeMux()}
	s.mux.HandleFunc("POST /v1/images/generations", func(w http.ResponseWriter, r *http.Request) { s.answer(w, r, false) })
	s.mux.HandleFunc("POST /v1/images/edits", func(w http.ResponseWriter, r *http.Request) { s.answer(w, r, true) })
	s.mux.HandleFunc("GET /xai-imgen/{name}", s.file)
	return s
}

// ServeHTTP answers the protocol; the API lies under /v1.
func (s *Simulator) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Key is the accepted key.
func (s *Simulator) Key() string { return s.config.Key }

// Inject queues faults.
func (s *Simulator) Inject(faults ...generatetest.Injection) { s.journal.Inject(faults...) }

// Captured lists the calls.
func (s *Simulator) Captured() []generatetest.Captured { return s.journal.Captured() }

// Sent lists the digests of the pictures that went out.
func (s *Simulator) Sent() []media.Digest { return s.journal.Sent() }

// answer takes one call through key, faults and checks.
func (s *Simulator) answer(w http.ResponseWriter, r *http.Request, edit bool) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	call := s.journal.Capture(r, body)
	if r.Header.Get("Authorization") != "Bearer "+s.config.Key {
		unauthorized().write(w)
		return
	}
	fault := s.journal.Next()
	if s.answerFault(w, r, fault) {
		return
	}
	q, bad := s.parse(body, edit)
	if bad != nil {
		bad.write(w)
		return
	}
	out := s.draw(r, q, call, fault)
	if fault.Fault == generatetest.FaultHalfBody {
		out.WriteHalf(w)
	}
	out.Write(w)
}

// draw writes the answer to a good request, with the fault in its pictures if there is one.
func (s *Simulator) draw(r *http.Request, q *request, call int, fault generatetest.Injection) *simulate.Body {
	n := *q.N
	switch fault.Fault {
	case generatetest.FaultEmpty:
		n = 0
	case generatetest.FaultPartialN:
		n--
	default:
	}
	body := &simulate.Body{}
	body.Text(`{"data":[`)
	for i := range n {
		if i > 0 {
			body.Text(",")
		}
		s.picture(body, r, q, fault, simulate.Seed(q.Prompt, int64(call), int64(i)))
	}
	body.Text(`],"usage":{"cost_in_usd_ticks":%d}}`, q.ticks(n))
	return body
}

// picture writes one entry of data, or what the fault puts in its place.
func (s *Simulator) picture(body *simulate.Body, r *http.Request, q *request, fault generatetest.Injection, seed uint64) {
	width, height := q.pixels()
	p := s.painter.Paint("jpeg", width, height, seed)
	switch fault.Fault {
	case generatetest.FaultTinyImage:
		p = simulate.Tiny(seed)
	case generatetest.FaultHugeHeader:
		p = simulate.HugeHeader()
	case generatetest.FaultNotMedia:
		p = simulate.NotMedia("image/jpeg")
	case generatetest.FaultLyingType:
		p = s.painter.Paint("png", width, height, seed)
	default:
	}
	switch {
	case fault.Fault == generatetest.FaultModerated:
		body.Text(`{"mime_type":"image/jpeg","respect_moderation":false}`)
		return
	case fault.Fault == generatetest.FaultPrivateURL:
		body.Text(`{"url":%q,"mime_type":"image/jpeg"}`, []string{"http://169.254.169.254/latest/meta-data/picture.png", "http://10.0.0.1/picture.png"}[fault.Variant%2])
		return
	case fault.Fault == generatetest.FaultNotMedia && fault.Variant%2 == 1:
		body.Text(`{"b64_json":%q,"mime_type":"image/jpeg"}`, p.Bytes())
		return
	}
	s.journal.Record(p)
	if q.Format != "b64_json" {
		body.Text(`{"url":"http://%s/xai-imgen/xai-tmp-imgen-%dx%d-%d.jpeg","mime_type":"image/jpeg"}`, r.Host, width, height, seed)
		return
	}
	body.Text(`{"b64_json":"`)
	body.Picture(p)
	body.Text(`","mime_type":"image/jpeg","revised_prompt":""}`)
}

// file serves the picture of a link, which needs no key.
func (s *Simulator) file(w http.ResponseWriter, r *http.Request) {
	var width, height int
	var seed uint64
	if _, err := fmt.Sscanf(r.PathValue("name"), "xai-tmp-imgen-%dx%d-%d.jpeg", &width, &height, &seed); err != nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "image/jpeg")
	_, _ = w.Write(s.painter.Paint("jpeg", width, height, seed).Bytes())
}
