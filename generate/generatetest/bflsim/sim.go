// Package bflsim simulates the API of Black Forest Labs: POST /v1/<model> makes a
// task, GET /v1/get_result tells its state under a polling URL that may be on another
// host, and the finished picture is a link that dies after ten minutes. It checks the
// key and each endpoint's own fields, limits the tasks under way, bills in cents with
// the noise of floating point, signs its webhooks, and answers faults in the API's own
// words. Its pictures are real files of the asked size.
//
// It has no errors of its own. It is a test package: nothing that ships imports it.
package bflsim

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

// linkLife is how long the link to a picture lives.
const linkLife = 10 * time.Minute

// Config sets up a [Simulator]; the zero value is good.
type Config struct {
	// Key is the accepted key; default "bfl_simulated".
	Key string
	// Now is the clock for links; default 2026-11-21 12:00 UTC, always.
	Now func() time.Time
	// Pending is how many polls find a task unfinished; default 2, negative for none.
	Pending int
	// Active is how many tasks may be unfinished; default 24.
	Active int
	// PollOrigin and LinkOrigin are where polling URLs and links point; default where
	// the task was made.
	PollOrigin, LinkOrigin string
	// Steady lets a picture depend on its prompt alone, so that runs can be compared; otherwise
	// no two are alike that have no seed.
	Steady bool
	// PictureBytes pads every PNG to at least this many bytes; default no padding.
	PictureBytes int
}

// Simulator is the API on loopback.
type Simulator struct {
	config   Config
	journal  simulate.Journal
	contract *simulate.Contract
	painter  simulate.Painter
	shelf    simulate.Shelf
	mux      *http.ServeMux

	mu    sync.Mutex // guards tasks and each task's state
	tasks map[string]*task
}

var _ generatetest.Simulator = (*Simulator)(nil)

// task is one picture under way.
type task struct {
	id, origin string
	request    *request
	fault      generatetest.Injection
	polls      int
	over       bool
	link       string // where the picture is; empty if there is none
}

// New makes a simulator.
func New(c Config) *Simulator {
	if c.Key == "" {
		c.Key = "bfl_simulated"
	}
	if c.Now == nil {
		c.Now = func() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }
	}
	if c.Pending == 0 {
		c.Pending = 2
	}
	if c.Active == 0 {
		c.Active = 24
	}
	s := &Simulator{contract: contract(), config: c, painter: simulate.Painter{Bytes: c.PictureBytes}, mux: http.NewServeMux(), tasks: map[string]*task{}}
	s.mux.HandleFunc("POST /v1/{model}", s.submit)
	s.mux.HandleFunc("GET /v1/get_result", s.poll)
	s.mux.HandleFunc("GET /results/{name}", s.download)
	s.mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { detail(w, http.StatusNotFound, "Not Found") })
	return s
}

// ServeHTTP answers the protocol; the API lies under /v1.
func (s *Simulator) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Key is the accepted key.
func (s *Simulator) Key() string { return s.config.Key }

// Inject queues faults.
func (s *Simulator) Inject(faults ...generatetest.Injection) { s.journal.Inject(faults...) }

// Captured lists the calls that make tasks.
func (s *Simulator) Captured() []generatetest.Captured { return s.journal.Captured() }

// Sent lists the digests of the pictures that were made.
func (s *Simulator) Sent() []media.Digest { return s.journal.Sent() }

// authorized checks the key and answers if it is wrong: with 403, not 401.
func (s *Simulator) authorized(w http.ResponseWriter, r *http.Request) bool {
	if r.Header.Get("X-Key") == s.config.Key {
		return true
	}
	detail(w, http.StatusForbidden, "Not authenticated - Invalid Authentication")
	return false
}

// submit makes a task.
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
	e, ok := endpoints()[r.PathValue("model")]
	if !ok {
		detail(w, http.StatusNotFound, "Not Found")
		return
	}
	q, bad := e.parse(body)
	if bad != nil {
		write(w, http.StatusUnprocessableEntity, map[string]any{"detail": bad})
		return
	}
	t := &task{id: fmt.Sprintf("%08x-5f1d-4c3e-9b7a-0242ac120002", call), request: q, fault: fault, origin: "http://" + r.Host}
	number := s.number(call)
	if chosen := number * 7919; q.seed == nil {
		q.seed = &chosen
	}
	if !s.begin(t) {
		w.Header().Set("Retry-After", "1")
		detail(w, http.StatusTooManyRequests, "Too many active tasks")
		return
	}
	link := s.paint(t, number)
	s.mu.Lock()
	t.link = link
	s.mu.Unlock()
	s.accept(w, t, e)
}

// number tells the pictures of one prompt apart.
func (s *Simulator) number(call int) int64 {
	if s.config.Steady {
		return 0
	}
	return int64(call)
}

// begin takes a task if there is room for it.
func (s *Simulator) begin(t *task) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	active := 0
	for _, other := range s.tasks {
		if !other.over {
			active++
		}
	}
	if active >= s.config.Active {
		return false
	}
	s.tasks[t.id] = t
	return true
}

// paint makes the picture of a task, or what the fault puts in its place, and gives the link.
func (s *Simulator) paint(t *task, number int64) string {
	width, height := t.request.pixels()
	p := s.painter.Picture(t.request.format, width, height, simulate.Seed(t.request.prompt, *t.request.seed, number), t.fault)
	name := t.id + "." + t.request.format
	switch t.fault.Fault {
	case generatetest.FaultEmpty, generatetest.FaultModerated, generatetest.FaultTaskFailed, generatetest.FaultTaskLost:
		return ""
	case generatetest.FaultPrivateURL:
		all := simulate.PrivateURLs()
		return all[t.fault.Variant%len(all)]
	default:
	}
	s.journal.Record(p)
	s.shelf.Put(name, simulate.LinkTo(p, t.request.format, s.config.Now(), linkLife, t.fault))
	origin := s.config.LinkOrigin
	if origin == "" {
		origin = t.origin
	}
	return origin + "/results/" + name + "?se=" + s.config.Now().Add(linkLife).Format("2006-01-02T15%3A04%3A05Z") + "&sp=r&sv=2025-05-05&sr=b&rsct=image%2F" + t.request.format + "&sig=c2ltdWxhdGVk"
}

// accept answers a new task: with its polling URL, or with the state of its webhook.
func (s *Simulator) accept(w http.ResponseWriter, t *task, e endpoint) {
	in, out := t.request.megapixels()
	answer := map[string]any{"id": t.id, "cost": e.cost(in, out), "input_mp": round(in), "output_mp": round(out)}
	if t.request.webhook != "" {
		answer["status"], answer["webhook_url"] = "Pending", t.request.webhook
	} else {
		origin := s.config.PollOrigin
		if origin == "" {
			origin = t.origin
		}
		answer["polling_url"] = origin + "/v1/get_result?id=" + t.id
	}
	if t.fault.Fault == generatetest.FaultAnswerLost {
		panic(http.ErrAbortHandler)
	}
	if t.fault.Fault == generatetest.FaultHalfBody {
		b, _ := json.Marshal(answer) // numbers and texts
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(b)))
		_, _ = w.Write(b[:len(b)/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	write(w, http.StatusOK, answer)
}

// poll tells the state of a task.
func (s *Simulator) poll(w http.ResponseWriter, r *http.Request) {
	if !s.authorized(w, r) {
		return
	}
	id := r.URL.Query().Get("id")
	s.mu.Lock()
	t, ok := s.tasks[id]
	n := 0
	if ok {
		t.polls++
		n = t.polls
	}
	s.mu.Unlock()
	w.Header().Set("X-Ratelimit-Limit", "1200")
	w.Header().Set("Retry-After", "0")
	switch {
	case !ok:
		write(w, http.StatusOK, state(id, "Task not found", nil, nil))
	case t.fault.Fault == generatetest.FaultTaskLost && t.fault.Variant%2 == 1:
		detail(w, http.StatusNotFound, "Task not found")
	case t.fault.Fault == generatetest.FaultTaskLost:
		write(w, http.StatusOK, state(id, "Task not found", nil, nil))
	case t.fault.Fault == generatetest.FaultPollFails && n == 1:
		detail(w, http.StatusInternalServerError, "Internal Server Error")
	case t.fault.Fault == generatetest.FaultPollFails && n == 2:
		panic(http.ErrAbortHandler)
	case n <= s.config.Pending && !s.ended(t, false):
		write(w, http.StatusOK, state(id, "Pending", nil, nil))
	default:
		s.ended(t, true)
		write(w, http.StatusOK, t.final())
	}
}

// ended reports whether a task is over, and ends it where asked to.
func (s *Simulator) ended(t *task, end bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.over = t.over || end
	return t.over
}
