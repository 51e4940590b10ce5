// Package leonardosim simulates version 1 of Leonardo's production API: generations
// that are asked for and then polled, pictures to start from that go to a storage host
// by a signed form, results by public link, and the webhook of a key. It checks key,
// fields and limits, makes four pictures where nobody says how many, names the cost,
// and answers faults in the API's own words.
//
// It has no errors of its own. It is a test package: nothing that ships imports it.
package leonardosim

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"atelier/generate/generatetest"
	"atelier/generate/generatetest/simulate"
	"atelier/media"
)

// Config sets up a [Simulator]; the zero value is good.
type Config struct {
	// Key is the accepted key; default "6f1c2a3e-simulated-leonardo".
	Key string
	// Now is the clock for uploads; default 2026-11-21 12:00 UTC, always.
	Now func() time.Time
	// Pending is how many polls find a generation unfinished; default 2, negative for none.
	Pending int
	// UploadOrigin is where uploads are sent; default where the leave was asked for.
	UploadOrigin string
	// WebhookKey is the bearer of the webhook's calls; empty means that they have none.
	WebhookKey string
	// Credits makes the cost come in credits in place of dollars.
	Credits bool
	// Flagged marks every picture as not safe for work.
	Flagged bool
}

// Simulator is the API on loopback.
type Simulator struct {
	config   Config
	journal  simulate.Journal
	contract *simulate.Contract
	painter  simulate.Painter
	shelf    simulate.Shelf
	mux      *http.ServeMux

	mu      sync.Mutex // guards all below
	jobs    map[string]*job
	order   []*job // as they were made
	leaves  map[string]*leave
	uploads []media.Digest
}

var _ generatetest.Simulator = (*Simulator)(nil)

// job is one generation.
type job struct {
	id      string
	request *request
	fault   generatetest.Injection
	polls   int
	over    bool
	made    time.Time
	links   []string
}

// New makes a simulator.
func New(c Config) *Simulator {
	if c.Key == "" {
		c.Key = "6f1c2a3e-simulated-leonardo"
	}
	if c.Now == nil {
		c.Now = func() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }
	}
	if c.Pending == 0 {
		c.Pending = 2
	}
	s := &Simulator{contract: contract(), config: c, mux: http.NewServeMux(), jobs: map[string]*job{}, leaves: map[string]*leave{}}
	s.mux.HandleFunc("POST /api/rest/v1/generations", s.submit)
	s.mux.HandleFunc("GET /api/rest/v1/generations/{id}", s.poll)
	s.mux.HandleFunc("GET /api/rest/v1/generations/user/{user}", s.list)
	s.mux.HandleFunc("GET /api/rest/v1/me", s.me)
	s.mux.HandleFunc("POST /api/rest/v1/init-image", s.ticket)
	s.mux.HandleFunc("POST /storage/{id}", s.store)
	s.mux.HandleFunc("GET /users/{name}", s.download)
	s.mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { page(w, http.StatusForbidden) })
	return s
}

// ServeHTTP answers the protocol; the API lies under /api/rest/v1, all else is a web page.
func (s *Simulator) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Key is the accepted key.
func (s *Simulator) Key() string { return s.config.Key }

// Inject queues faults.
func (s *Simulator) Inject(faults ...generatetest.Injection) { s.journal.Inject(faults...) }

// Captured lists the calls that make generations.
func (s *Simulator) Captured() []generatetest.Captured { return s.journal.Captured() }

// Sent lists the digests of the pictures that were made.
func (s *Simulator) Sent() []media.Digest { return s.journal.Sent() }

// Uploads lists the digests of the pictures that came into the storage, in order.
func (s *Simulator) Uploads() []media.Digest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]media.Digest(nil), s.uploads...)
}

// authorized checks the key and answers if it is wrong.
func (s *Simulator) authorized(w http.ResponseWriter, r *http.Request) bool {
	switch r.Header.Get("Authorization") {
	case "Bearer " + s.config.Key:
		return true
	case "":
		fail(w, http.StatusUnauthorized, "access-denied", "Authentication hook unauthorized this request")
	default:
		fail(w, http.StatusInternalServerError, "unexpected", "Invalid response from authorization hook")
	}
	return false
}

// submit makes a generation.
func (s *Simulator) submit(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	call := s.journal.Capture(r, body)
	if !s.authorized(w, r) {
		return
	}
	fault := s.journal.Next()
	if s.answerFault(w, r, fault) {
		return
	}
	q, bad := parse(body)
	if bad == nil && q.init != "" && !s.has(q.init) {
		bad = &problem{"not-exists", "init image not found"}
	}
	if bad != nil {
		fail(w, http.StatusBadRequest, bad.code, bad.text)
		return
	}
	j := &job{id: fmt.Sprintf("%08x-7b21-4e5f-8d3c-1a2b3c4d5e6f", call), request: q, fault: fault, made: s.config.Now().UTC()}
	s.paint(j, r, call)
	s.mu.Lock()
	s.jobs[j.id], s.order = j, append(s.order, j)
	s.mu.Unlock()
	s.accept(w, j)
}

// paint makes the pictures of a generation, or what the fault puts in their place.
func (s *Simulator) paint(j *job, r *http.Request, call int) {
	if j.request.seed == nil {
		chosen := int64(call) * 7919
		j.request.seed = &chosen
	}
	n := j.request.images
	switch j.fault.Fault {
	case generatetest.FaultEmpty, generatetest.FaultTaskFailed, generatetest.FaultTaskLost:
		return
	case generatetest.FaultPartialN:
		n--
	default:
	}
	for i := range n {
		if j.fault.Fault == generatetest.FaultPrivateURL {
			all := simulate.PrivateURLs()
			j.links = append(j.links, all[j.fault.Variant%len(all)])
			continue
		}
		p := s.painter.Picture("jpeg", j.request.width, j.request.height, simulate.Seed(j.request.prompt, *j.request.seed, int64(call), int64(i)), j.fault)
		s.journal.Record(p)
		name := j.id + "_" + strconv.Itoa(i) + ".jpg"
		s.shelf.Put(name, simulate.LinkTo(p, "jpeg", s.config.Now(), 0, j.fault))
		j.links = append(j.links, "http://"+r.Host+"/users/"+name)
	}
}

// accept answers a new generation with its cost.
func (s *Simulator) accept(w http.ResponseWriter, j *job) {
	cost := map[string]string{"amount": strconv.FormatFloat(float64(12*j.request.images)/1000, 'f', -1, 64), "unit": "DOLLARS"}
	if s.config.Credits {
		cost = map[string]string{"amount": strconv.Itoa(11 * j.request.images), "unit": "CREDITS"}
	}
	switch j.fault.Fault {
	case generatetest.FaultAnswerLost, generatetest.FaultListLost:
		panic(http.ErrAbortHandler)
	default:
	}
	answer := map[string]any{"sdGenerationJob": map[string]any{"generationId": j.id, "apiCreditCost": 11 * j.request.images, "cost": cost}}
	if j.fault.Fault == generatetest.FaultHalfBody {
		b, _ := json.Marshal(answer) // texts and numbers
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.Header().Set("Content-Length", strconv.Itoa(len(b)))
		_, _ = w.Write(b[:len(b)/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	write(w, http.StatusOK, answer)
}

// poll tells the state of a generation.
func (s *Simulator) poll(w http.ResponseWriter, r *http.Request) {
	if !s.authorized(w, r) {
		return
	}
	s.mu.Lock()
	j, ok := s.jobs[r.PathValue("id")]
	n := 0
	if ok {
		j.polls++
		n = j.polls
		j.over = j.over || n > s.config.Pending
	}
	over := ok && j.over
	s.mu.Unlock()
	switch {
	case !ok || j.fault.Fault == generatetest.FaultTaskLost:
		write(w, http.StatusOK, map[string]any{"generations_by_pk": nil})
	case j.fault.Fault == generatetest.FaultPollFails && n == 1:
		fail(w, http.StatusInternalServerError, "unexpected", "internal error")
	case j.fault.Fault == generatetest.FaultPollFails && n == 2:
		panic(http.ErrAbortHandler)
	default:
		write(w, http.StatusOK, map[string]any{"generations_by_pk": s.state(j, over)})
	}
}

// state is a generation as polls tell it.
func (s *Simulator) state(j *job, over bool) map[string]any {
	status, images := "PENDING", []map[string]any{}
	switch {
	case over && j.fault.Fault == generatetest.FaultTaskFailed:
		status = "FAILED"
	case over:
		status, images = "COMPLETE", s.images(j)
	}
	q := j.request
	return map[string]any{
		"id": j.id, "status": status, "createdAt": j.made.Format("2006-01-02T15:04:05.000"), "modelId": q.model, "prompt": q.prompt, "negativePrompt": q.negative,
		"imageHeight": q.height, "imageWidth": q.width, "inferenceSteps": nil, "guidanceScale": nil, "seed": *q.seed, "scheduler": "LEONARDO",
		"sdVersion": "PHOENIX", "presetStyle": q.style, "initStrength": nil, "public": false, "ultra": q.ultra,
		"generation_elements": []any{}, "generated_images": images,
	}
}

// images are the results of a generation.
func (s *Simulator) images(j *job) []map[string]any {
	all := []map[string]any{}
	for i, link := range j.links {
		all = append(all, map[string]any{
			"id": fmt.Sprintf("%s-image-%d", j.id[:8], i), "url": link, "nsfw": s.config.Flagged, "likeCount": 0, "fantasyAvatar": nil,
			"imageToVideo": nil, "motion": nil, "motionModel": nil, "motionMP4URL": nil, "motionStrength": nil,
			"generated_image_variation_generics": []any{},
		})
	}
	return all
}

// download gives a picture to everybody.
func (s *Simulator) download(w http.ResponseWriter, r *http.Request) {
	if !s.shelf.Serve(w, r.PathValue("name"), s.config.Now()) {
		page(w, http.StatusNotFound)
	}
}

// write answers JSON.
func write(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// fail answers an error: flat, with a text.
func fail(w http.ResponseWriter, status int, code, text string) {
	write(w, status, map[string]string{"error": text, "path": "$", "code": code})
}

// page answers a web page, as what stands before the API does.
func page(w http.ResponseWriter, status int) {
	w.Header().Set("Content-Type", "text/html; charset=UTF-8")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, simulate.Page)
}
