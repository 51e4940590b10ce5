// Package leonardosim simulates version 1 of Leonardo's production API: generations
// that are requested and then polled, input pictures that are uploaded to a storage host
// with a signed form, results by public link, and the webhook of a key. It checks key,
// fields and limits, makes four pictures by default, reports the cost, and answers
// faults with the API's messages.
//
// It defines no errors. It is a test package: no shipped code imports it.
package leonardosim

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"atelier/generate/generatetest"
	"atelier/internal/sim"
	"atelier/media"
)

// Config configures a [Simulator]; the zero value is valid.
type Config struct {
	// Key is the accepted key; default "6f1c2a3e-simulated-leonardo".
	Key string
	// Now is the clock for uploads; default always 2026-11-21 12:00 UTC.
	Now func() time.Time
	// Pending is how many polls return a generation as unfinished; default 2, negative for none.
	Pending int
	// UploadOrigin is the origin for uploads; the default is that of the request.
	UploadOrigin string
	// WebhookKey is the bearer token of the webhook's calls; empty means none.
	WebhookKey string
	// Credits reports the cost in credits instead of dollars.
	Credits bool
	// Flagged marks every picture as not safe for work.
	Flagged bool
}

// Simulator is the API on loopback. The API is under /api/rest/v1; everything else is a web page.
type Simulator struct {
	*sim.Provider
	config Config
	jobs   sim.Tasks[*request]

	mu           sync.Mutex // guards all below
	uploadGrants map[string]*uploadGrant
	uploads      []media.Digest
}

var _ generatetest.Simulator = (*Simulator)(nil)

// job is one generation.
type job = sim.Task[*request]

// New returns a simulator.
func New(c Config) *Simulator {
	c.Pending = cmp.Or(c.Pending, 2)
	s := &Simulator{config: c, uploadGrants: map[string]*uploadGrant{}, Provider: sim.NewProvider(sim.Config{
		Key: cmp.Or(c.Key, "6f1c2a3e-simulated-leonardo"), Credential: "Authorization", Now: c.Now, Files: documented, Routes: routes,
		Script: script, Refuse: refuse,
		Absent: sim.NoStreams.With(sim.Absence{
			sim.FaultConflict: "the API documents no 409", sim.FaultExpiredLink: "links are public and do not expire",
		}),
	})}
	s.Make("POST /api/rest/v1/generations", s.submit)
	s.Guard("GET /api/rest/v1/generations/{id}", s.poll)
	s.Guard("GET /api/rest/v1/generations/user/{user}", s.list)
	s.Guard("GET /api/rest/v1/me", s.me)
	s.Guard("POST /api/rest/v1/init-image", s.grantUpload)
	s.HandleFunc("POST /storage/{id}", s.store)
	s.HandleFunc("GET /users/{name}", s.download)
	s.Handle("/", sim.HTML(http.StatusForbidden))
	return s
}

// Uploads returns the digests of the uploaded pictures, in order.
func (s *Simulator) Uploads() []media.Digest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]media.Digest(nil), s.uploads...)
}

// submit creates a generation.
func (s *Simulator) submit(w http.ResponseWriter, c *sim.Call) {
	q, bad := parse(c.Body)
	if bad == nil && q.init != "" && !s.has(q.init) {
		bad = &problem{"not-exists", "init image not found"}
	}
	if bad != nil {
		fail(http.StatusBadRequest, bad.code, bad.text).Write(w)
		return
	}
	q.made = s.Now().UTC()
	j := &job{ID: fmt.Sprintf("%08x-7b21-4e5f-8d3c-1a2b3c4d5e6f", c.Number), Work: q, Fault: c.Fault}
	s.paint(j, c)
	s.jobs.Begin(j, 0)
	cost := map[string]string{"amount": strconv.FormatFloat(float64(12*q.images)/1000, 'f', -1, 64), "unit": "DOLLARS"}
	if s.config.Credits {
		cost = map[string]string{"amount": strconv.Itoa(11 * q.images), "unit": "CREDITS"}
	}
	sim.Accept(w, c.Fault, map[string]any{"sdGenerationJob": map[string]any{"generationId": j.ID, "apiCreditCost": 11 * q.images, "cost": cost}})
}

// paint makes the pictures of a generation, or the fault in their place.
func (s *Simulator) paint(j *job, c *sim.Call) {
	q := j.Work
	if q.seed == nil {
		chosen := int64(c.Number) * 7919
		q.seed = &chosen
	}
	n := q.images
	switch j.Fault.Fault {
	case sim.FaultEmpty, sim.FaultTaskFailed, sim.FaultTaskLost:
		return
	case sim.FaultPartialN:
		n--
	default:
	}
	for i := range n {
		if j.Fault.Fault == sim.FaultPrivateURL {
			q.links = append(q.links, sim.PrivateURL(j.Fault))
			continue
		}
		p := s.Picture("jpeg", q.width, q.height, sim.Seed(q.prompt, *q.seed, int64(c.Number), int64(i)), j.Fault)
		s.Record(p)
		name := j.ID + "_" + strconv.Itoa(i) + ".jpg"
		s.Put(name, sim.Link{Picture: p, DeclaredMIME: "image/jpeg", Fault: j.Fault})
		q.links = append(q.links, sim.Origin(c.Request, "")+"/users/"+name)
	}
}

// poll returns the state of a generation.
func (s *Simulator) poll(w http.ResponseWriter, r *http.Request) {
	j, over, failing := s.jobs.Poll(r.PathValue("id"), s.config.Pending)
	switch {
	case j == nil || j.Fault.Fault == sim.FaultTaskLost:
		sim.JSON(w, http.StatusOK, map[string]any{"generations_by_pk": nil})
	case failing:
		fail(http.StatusInternalServerError, "unexpected", "internal error").Write(w)
	default:
		sim.JSON(w, http.StatusOK, map[string]any{"generations_by_pk": s.state(j, over)})
	}
}

// state returns a generation in the form of a poll's answer.
func (s *Simulator) state(j *job, over bool) map[string]any {
	status, images := "PENDING", []map[string]any{}
	switch {
	case over && j.Fault.Fault == sim.FaultTaskFailed:
		status = "FAILED"
	case over:
		status, images = "COMPLETE", s.images(j)
	}
	q := j.Work
	return map[string]any{
		"id": j.ID, "status": status, "createdAt": q.made.Format("2006-01-02T15:04:05.000"), "modelId": q.model, "prompt": q.prompt, "negativePrompt": q.negative,
		"imageHeight": q.height, "imageWidth": q.width, "inferenceSteps": nil, "guidanceScale": nil, "seed": *q.seed, "scheduler": "LEONARDO",
		"sdVersion": "PHOENIX", "presetStyle": q.style, "initStrength": nil, "public": false, "ultra": q.ultra,
		"generation_elements": []any{}, "generated_images": images,
	}
}

// images returns the results of a generation.
func (s *Simulator) images(j *job) []map[string]any {
	all := []map[string]any{}
	for i, link := range j.Work.links {
		all = append(all, map[string]any{
			"id": fmt.Sprintf("%s-image-%d", j.ID[:8], i), "url": link, "nsfw": s.config.Flagged, "likeCount": 0, "fantasyAvatar": nil,
			"imageToVideo": nil, "motion": nil, "motionModel": nil, "motionMP4URL": nil, "motionStrength": nil,
			"generated_image_variation_generics": []any{},
		})
	}
	return all
}

// download serves a picture without a key.
func (s *Simulator) download(w http.ResponseWriter, r *http.Request) {
	if !s.Serve(w, r.PathValue("name")) {
		sim.HTML(http.StatusNotFound).Write(w)
	}
}
