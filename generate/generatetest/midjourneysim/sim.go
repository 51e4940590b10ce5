// Package midjourneysim simulates midjourney-proxy, the protocol through which
// programs reach Midjourney: submissions under /mj/submit, with and without a path
// for the speed, tasks under /mj/task, and the picture store with links that are signed
// and expire. A task goes on by one state at every poll. Grids have four quadrants of
// different colours, so that a wrong cut shows.
//
// It has no errors of its own. It is a test package: nothing that ships imports it.
package midjourneysim

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"atelier/generate"
	"atelier/generate/generatetest"
	"atelier/generate/generatetest/simulate"
	"atelier/media"
)

// Config sets up a [Simulator]; the zero value is good.
type Config struct {
	// Key is the accepted mj-api-secret; default "simulated-midjourney-secret".
	Key string
	// Now is the clock for ids and links; default 2026-11-21 12:00 UTC, always.
	Now func() time.Time
	// Side is the side of a square tile in pixels, a multiple of 16; default 256, a
	// quarter of the real one.
	Side int
	// Singles gives four single pictures beside the grid, as for official accounts.
	Singles bool
	// Plain leaves buttons, action, modal and edits out, as the older proxy does.
	Plain bool
	// Quick ends every task at its first poll.
	Quick bool
	// Remix opens a window before variations, as accounts in remix mode do.
	Remix bool
}

// Simulator is a proxy on loopback.
type Simulator struct {
	config   Config
	journal  simulate.Journal
	contract *simulate.Contract
	painter  simulate.Painter
	mux      *http.ServeMux

	mu    sync.Mutex // guards all below
	tasks map[string]*task
	files map[string]*file // by path
	count int
}

var _ generatetest.Simulator = (*Simulator)(nil)

// New makes a simulator.
func New(c Config) *Simulator {
	if c.Key == "" {
		c.Key = "simulated-midjourney-secret"
	}
	if c.Now == nil {
		c.Now = func() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }
	}
	if c.Side == 0 {
		c.Side = 256
	}
	s := &Simulator{contract: contract(), config: c, mux: http.NewServeMux(), tasks: map[string]*task{}, files: map[string]*file{}}
	s.mux.HandleFunc("POST /mj/submit/{endpoint}", s.submit)
	s.mux.HandleFunc("GET /mj/task/list", s.listAll)
	s.mux.HandleFunc("GET /mj/task/{id}/fetch", s.fetch)
	s.mux.HandleFunc("POST /mj/task/{id}/cancel", s.cancel)
	s.mux.HandleFunc("POST /mj/task/list-by-condition", s.list)
	s.mux.HandleFunc("GET /attachments/{task}/{name}", s.serveFile)
	return s
}

// ServeHTTP answers the protocol. The paths of the speeds lead to the same endpoints.
func (s *Simulator) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for _, mode := range []string{"fast", "relax", "turbo"} {
		if rest, ok := strings.CutPrefix(r.URL.Path, "/mj-"+mode+"/mj/"); ok && !s.config.Plain {
			inner := r.Clone(r.Context())
			inner.URL.Path = "/mj/" + rest
			inner.Header.Set(modeHeader, strings.ToUpper(mode))
			inner.Header.Set(pathHeader, r.URL.Path)
			s.mux.ServeHTTP(w, inner)
			return
		}
	}
	s.mux.ServeHTTP(w, r)
}

// The headers that carry what a path of a speed said to the handler.
const (
	modeHeader = "X-Sim-Mode"
	pathHeader = "X-Sim-Path"
)

// Key is the accepted secret.
func (s *Simulator) Key() string { return s.config.Key }

// Inject queues faults; every submission but those of windows takes one.
func (s *Simulator) Inject(faults ...generatetest.Injection) { s.journal.Inject(faults...) }

// Captured lists the submissions.
func (s *Simulator) Captured() []generatetest.Captured { return s.journal.Captured() }

// Sent lists the digests of the files that were fetched.
func (s *Simulator) Sent() []media.Digest { return s.journal.Sent() }

// authorized checks the secret and answers if it is wrong: 401 and nothing more.
func (s *Simulator) authorized(w http.ResponseWriter, r *http.Request) bool {
	if r.Header.Get("Mj-Api-Secret") == s.config.Key {
		return true
	}
	w.WriteHeader(http.StatusUnauthorized)
	return false
}

func (s *Simulator) submit(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	mode := r.Header.Get(modeHeader)
	if path := r.Header.Get(pathHeader); path != "" {
		r.URL.Path = path
		r.Header.Del(modeHeader)
		r.Header.Del(pathHeader)
	}
	s.journal.Capture(r, body)
	if !s.authorized(w, r) {
		return
	}
	endpoint := r.PathValue("endpoint")
	fault := generatetest.Injection{}
	if endpoint != "modal" {
		fault = s.journal.Next()
	}
	if s.answerFault(w, r, fault) {
		return
	}
	q, bad := s.parse(endpoint, body)
	if bad != nil {
		bad.write(w)
		return
	}
	q.origin, q.mode, q.fault = "http://"+r.Host, mode, fault
	answer := s.accept(q)
	switch fault.Fault {
	case generatetest.FaultHalfBody:
		writeHalf(w, answer)
	case generatetest.FaultAnswerLost, generatetest.FaultListLost:
		panic(http.ErrAbortHandler)
	default:
		answer.write(w)
	}
}

// envelope is the answer to a submission.
type envelope struct {
	status      int
	Code        int            `json:"code"`
	Description string         `json:"description"`
	Result      any            `json:"result"`
	Properties  map[string]any `json:"properties"`
}

func (e *envelope) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json;charset=UTF-8")
	if e.status != 0 {
		w.WriteHeader(e.status)
	}
	_ = json.NewEncoder(w).Encode(e)
}

func invalid(text string) *envelope { return &envelope{Code: 4, Description: text} }

// accept starts the task of a good submission.
func (s *Simulator) accept(q *submission) *envelope {
	s.mu.Lock()
	defer s.mu.Unlock()
	if q.window != nil { // a window is confirmed
		q.window.confirm(q)
		return &envelope{Code: 1, Description: "Submit success", Result: q.window.ID}
	}
	if q.exists != nil {
		return &envelope{
			Code: 21, Description: "task exists", Result: q.exists.ID,
			Properties: map[string]any{"status": q.exists.Status, "imageUrl": q.exists.ImageURL},
		}
	}
	s.count++
	at := s.config.Now().UnixMilli()
	t := &task{
		ID: fmt.Sprintf("%d%03d", at, s.count), Action: q.action, Status: "NOT_START", Mode: q.mode, Prompt: q.prompt,
		PromptEn: q.prompt, State: q.State, SubmitTime: at, sim: s, q: q,
		Properties: map[string]any{"notifyHook": q.NotifyHook, "finalPrompt": q.prompt, "messageHash": fmt.Sprintf("5f0a1c2e-7b3d-4e9f-8a6b-%012d", s.count)},
	}
	s.tasks[t.ID] = t
	switch {
	case q.modal:
		t.Status = "MODAL"
		return &envelope{Code: 21, Description: "Waiting for window confirm", Result: t.ID, Properties: map[string]any{"finalPrompt": q.prompt, "remix": true}}
	case s.count%7 == 0: // now and then the queue is not empty
		return &envelope{Code: 22, Description: "In queue, there are 1 tasks ahead", Result: t.ID, Properties: map[string]any{"numberOfQueues": 1}}
	}
	return &envelope{Code: 1, Description: "Submit success", Result: t.ID, Properties: map[string]any{"discordInstanceId": "1118138338562560102"}}
}

func (s *Simulator) fetch(w http.ResponseWriter, r *http.Request) {
	if !s.authorized(w, r) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tasks[r.PathValue("id")]
	if t != nil && t.pollFails(w) {
		return
	}
	if t == nil || t.q.fault.Fault == generatetest.FaultTaskLost && !t.lost(w) {
		w.Header().Set("Content-Type", "application/json;charset=UTF-8")
		_, _ = io.WriteString(w, "null")
		return
	}
	if t.q.fault.Fault == generatetest.FaultTaskLost {
		return
	}
	t.advance()
	w.Header().Set("Content-Type", "application/json;charset=UTF-8")
	_ = json.NewEncoder(w).Encode(t)
}

func (s *Simulator) cancel(w http.ResponseWriter, r *http.Request) {
	if !s.authorized(w, r) {
		return
	}
	if s.config.Plain { // the older proxy has no such path, and its framework says so
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		_ = json.NewEncoder(w).Encode(map[string]any{"status": http.StatusNotFound, "error": "Not Found", "path": r.URL.Path})
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tasks[r.PathValue("id")]
	if t == nil {
		(&envelope{status: http.StatusNotFound, Code: 3, Description: "task not found"}).write(w)
		return
	}
	if !t.over() {
		t.Status, t.FailReason = "CANCEL", "cancelled"
	}
	(&envelope{Code: 1, Description: "Cancel success", Result: t.ID}).write(w)
}

// Status tells the state of a task; empty for one that is not known.
func (s *Simulator) Status(id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.tasks[id]; t != nil {
		return t.Status
	}
	return ""
}

// Notifications are the calls of the hook for a task, in order: every change of status
// or progress, and the last one once more. They carry the whole task and no signature.
func (s *Simulator) Notifications(id string) []generate.Notification {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tasks[id]
	if t == nil {
		return nil
	}
	var out []generate.Notification
	add := func() {
		body, err := json.Marshal(t)
		if err != nil {
			panic(err) // a task is plain data
		}
		out = append(out, generate.Notification{
			Header: map[string][]string{"Content-Type": {"application/json"}, "User-Agent": {"Java-http-client/17.0.12"}}, Body: body,
		})
	}
	for add(); !t.over() && t.Status != "MODAL"; add() {
		t.advance()
	}
	add()
	return out
}
