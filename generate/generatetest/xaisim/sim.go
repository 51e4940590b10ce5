// Package xaisim simulates xAI's images endpoints: POST /v1/images/generations and
// /v1/images/edits, both in JSON. It checks keys, fields and pictures, refuses sizes in pixels,
// retires models by date, reports the cost of each call in ticks and answers faults with xAI's
// messages. Its pictures are real JPEG files with the requested ratio and resolution, as data
// or by link.
//
// It defines no errors. It is a test package: no shipped code imports it.
package xaisim

import (
	"cmp"
	"fmt"
	"net/http"
	"time"

	"atelier/generate/generatetest"
	"atelier/internal/sim"
)

// Config configures a [Simulator]; the zero value is valid.
type Config struct {
	// Key is the accepted key; default "xai-simulated".
	Key string
	// Now is the clock for life cycles; default always 2026-11-21 12:00 UTC.
	Now func() time.Time
}

// Simulator is xAI on loopback; the API is under /v1.
type Simulator struct{ *sim.Provider }

var _ generatetest.Simulator = (*Simulator)(nil)

// New returns a simulator.
func New(c Config) *Simulator {
	s := &Simulator{sim.NewProvider(sim.Config{
		Key: cmp.Or(c.Key, "xai-simulated"), Credential: "Authorization", Now: c.Now, Files: documented, Routes: routes, Script: script,
		Absent: sim.NoStreams.With(sim.NoTasks).With(sim.Absence{
			sim.FaultExpiredLink: "pictures are asked for as data, not by link",
			sim.FaultHalfLink:    "pictures are asked for as data, not by link",
		}),
	})}
	s.Make("POST /v1/images/generations", func(w http.ResponseWriter, c *sim.Call) { s.answer(w, c, false) })
	s.Make("POST /v1/images/edits", func(w http.ResponseWriter, c *sim.Call) { s.answer(w, c, true) })
	s.HandleFunc("GET /xai-imgen/{name}", s.file)
	return s
}

func (s *Simulator) answer(w http.ResponseWriter, c *sim.Call, edit bool) {
	q, bad := s.parse(c.Body, edit)
	if bad != nil {
		bad.Write(w)
		return
	}
	s.draw(c, q).Write(w, c.Fault)
}

// draw builds the answer to a valid request, with the fault in its pictures if there is one.
func (s *Simulator) draw(c *sim.Call, q *request) *sim.Body {
	n := *q.N
	switch c.Fault.Fault {
	case sim.FaultEmpty:
		n = 0
	case sim.FaultPartialN:
		n--
	default:
	}
	body := &sim.Body{}
	body.Text(`{"data":[`)
	for i := range n {
		if i > 0 {
			body.Text(",")
		}
		s.picture(body, c, q, sim.Seed(q.Prompt, int64(c.Number), int64(i)))
	}
	body.Text(`],"usage":{"cost_in_usd_ticks":%d}}`, q.ticks(n))
	return body
}

// picture writes one entry of data, or the fault in its place.
func (s *Simulator) picture(body *sim.Body, c *sim.Call, q *request, seed uint64) {
	width, height := q.pixels()
	p := s.Picture("jpeg", width, height, seed, c.Fault)
	switch c.Fault.Fault {
	case sim.FaultModerated:
		body.Text(`{"mime_type":"image/jpeg","respect_moderation":false}`)
		return
	case sim.FaultPrivateURL:
		body.Text(`{"url":%q,"mime_type":"image/jpeg"}`, sim.PrivateURL(c.Fault))
		return
	default:
	}
	s.Record(p)
	if q.Format != "b64_json" {
		body.Text(`{"url":"%s/xai-imgen/xai-tmp-imgen-%dx%d-%d.jpeg","mime_type":"image/jpeg"}`, sim.Origin(c.Request, ""), width, height, seed)
		return
	}
	body.Text(`{"b64_json":"`)
	body.Media(p, c.Fault)
	body.Text(`","mime_type":"image/jpeg","revised_prompt":""}`)
}

// file serves the picture of a link without requiring a key.
func (s *Simulator) file(w http.ResponseWriter, r *http.Request) {
	var width, height int
	var seed uint64
	if _, err := fmt.Sscanf(r.PathValue("name"), "xai-tmp-imgen-%dx%d-%d.jpeg", &width, &height, &seed); err != nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "image/jpeg")
	_, _ = w.Write(s.Paint("jpeg", width, height, seed).Bytes())
}
