// Package midjourneysim simulates midjourney-proxy, the protocol through which
// programs reach Midjourney: submissions under /mj/submit, with and without a path
// for the speed, tasks under /mj/task, and the picture store with signed links that
// expire. Every poll advances a task by one state. Grids have four quadrants of
// different colours, so that a wrong cut is visible.
//
// It defines no errors. It is a test package: no shipped code imports it.
package midjourneysim

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"atelier/generate/driver"
	"atelier/generate/generatetest"
	"atelier/internal/sim"
)

// Config configures a [Simulator]; the zero value is valid.
type Config struct {
	// Key is the accepted mj-api-secret; default "simulated-midjourney-secret".
	Key string
	// Now is the clock for ids and links; default always 2026-11-21 12:00 UTC.
	Now func() time.Time
	// Side is the side of a square tile in pixels, a multiple of 16; default 256, a
	// quarter of the real one.
	Side int
	// Singles adds four single pictures to the grid, as for official accounts.
	Singles bool
	// Plain omits buttons, action, modal and edits, as the older proxy does.
	Plain bool
	// Quick ends every task at its first poll.
	Quick bool
	// Remix opens a window before variations, as accounts in remix mode do.
	Remix bool
}

// Simulator is a proxy on loopback. Every submission except the confirmation of a window takes a fault; files count
// as sent when they are fetched.
type Simulator struct {
	*sim.Provider
	config Config

	mu    sync.Mutex // guards all below
	tasks map[string]*task
	count int
}

var _ generatetest.Simulator = (*Simulator)(nil)

// New returns a simulator.
func New(c Config) *Simulator {
	c.Side = cmp.Or(c.Side, 256)
	s := &Simulator{config: c, tasks: map[string]*task{}, Provider: sim.NewProvider(sim.Config{ //nolint:gosec // Not real credentials.
		Key: cmp.Or(c.Key, "simulated-midjourney-secret"), Credential: "Mj-Api-Secret", Now: c.Now, Files: documented, Routes: routes, Script: script,
		Absent: sim.Absence{
			sim.FaultPartialN: "a job draws all four pictures or none", sim.FaultConflict: "a job that exists already is answered with its task",
		},
	})}
	s.HandleFunc("POST /mj/submit/{endpoint}", s.submit)
	s.Guard("GET /mj/task/list", s.listAll)
	s.Guard("GET /mj/task/{id}/fetch", s.fetch)
	s.Guard("POST /mj/task/{id}/cancel", s.cancel)
	s.Guard("POST /mj/task/list-by-condition", s.list)
	s.HandleFunc("GET /attachments/{task}/{name}", s.serveFile)
	return s
}

// ServeHTTP implements the protocol. The paths of the speeds lead to the same endpoints.
func (s *Simulator) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for _, mode := range []string{"fast", "relax", "turbo"} {
		if rest, ok := strings.CutPrefix(r.URL.Path, "/mj-"+mode+"/mj/"); ok && !s.config.Plain {
			inner := r.Clone(r.Context())
			inner.URL.Path = "/mj/" + rest
			inner.Header.Set(modeHeader, strings.ToUpper(mode))
			inner.Header.Set(pathHeader, r.URL.Path)
			s.Provider.ServeHTTP(w, inner)
			return
		}
	}
	s.Provider.ServeHTTP(w, r)
}

// The headers that pass the speed and the path of a request to the handler.
const (
	modeHeader = "X-Sim-Mode"
	pathHeader = "X-Sim-Path"
)

func (s *Simulator) submit(w http.ResponseWriter, r *http.Request) {
	mode := r.Header.Get(modeHeader)
	if path := r.Header.Get(pathHeader); path != "" {
		r.URL.Path = path
		r.Header.Del(modeHeader)
		r.Header.Del(pathHeader)
	}
	endpoint := r.PathValue("endpoint")
	c := s.Begin(w, r, endpoint != "modal")
	if c == nil {
		return
	}
	q, bad := s.parse(endpoint, c.Body)
	if bad != nil {
		bad.Write(w)
		return
	}
	q.origin, q.mode, q.fault = sim.Origin(r, ""), mode, c.Fault
	sim.Accept(w, c.Fault, s.accept(q))
}

// envelope is the answer to a submission.
type envelope struct {
	status      int
	Code        int            `json:"code"`
	Description string         `json:"description"`
	Result      any            `json:"result"`
	Properties  map[string]any `json:"properties"`
}

func (e envelope) answer() *sim.Answer { return &sim.Answer{Status: e.status, Body: e} }

func invalid(text string) *sim.Answer { return envelope{Code: 4, Description: text}.answer() }

func sensitive(prompt, word string) *sim.Answer {
	return envelope{Code: 24, Description: "May contain sensitive words", Properties: map[string]any{"promptEn": prompt, "bannedWord": word}}.answer()
}

// accept starts the task of a valid submission.
func (s *Simulator) accept(q *submission) *envelope {
	s.mu.Lock()
	defer s.mu.Unlock()
	if q.window != nil { // it confirms a window
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
	at := s.Now().UnixMilli()
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
	case s.count%7 == 0: // every seventh time, the queue is not empty
		return &envelope{Code: 22, Description: "In queue, there are 1 tasks ahead", Result: t.ID, Properties: map[string]any{"numberOfQueues": 1}}
	}
	return &envelope{Code: 1, Description: "Submit success", Result: t.ID, Properties: map[string]any{"discordInstanceId": "1118138338562560102"}}
}

func (s *Simulator) fetch(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tasks[r.PathValue("id")]
	switch {
	case t == nil:
		sim.Answer{Body: "null"}.Write(w)
	case t.pollFails(w):
	case t.q.fault.Fault == sim.FaultTaskLost: // null, or an empty body with either status
		[]sim.Answer{{Body: "null"}, {Status: http.StatusOK}, {Status: http.StatusNotFound}}[t.q.fault.Variant].Write(w)
	default:
		t.advance()
		sim.JSON(w, http.StatusOK, t)
	}
}

func (s *Simulator) cancel(w http.ResponseWriter, r *http.Request) {
	if s.config.Plain { // the older proxy has no such path, and its framework answers
		sim.JSON(w, http.StatusNotFound, map[string]any{"status": http.StatusNotFound, "error": "Not Found", "path": r.URL.Path})
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tasks[r.PathValue("id")]
	if t == nil {
		envelope{status: http.StatusNotFound, Code: 3, Description: "task not found"}.answer().Write(w)
		return
	}
	if !t.hasEnded() {
		t.Status, t.FailReason = "CANCEL", "cancelled"
	}
	envelope{Code: 1, Description: "Cancel success", Result: t.ID}.answer().Write(w)
}

// Status returns the state of a task; empty if the task is unknown.
func (s *Simulator) Status(id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.tasks[id]; t != nil {
		return t.Status
	}
	return ""
}

// Notifications returns the webhook calls for a task, in order: one for every change of status
// or progress, and the last one again. They carry the whole task and no signature.
func (s *Simulator) Notifications(id string) []driver.Notification {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tasks[id]
	if t == nil {
		return nil
	}
	var out []driver.Notification
	add := func() {
		body, err := json.Marshal(t)
		if err != nil {
			panic(err) // a task is plain data
		}
		out = append(out, driver.Notification{
			Header: map[string][]string{"Content-Type": {"application/json"}, "User-Agent": {"Java-http-client/17.0.12"}}, Body: body,
		})
	}
	for add(); !t.hasEnded() && t.Status != "MODAL"; add() {
		t.advance()
	}
	add()
	return out
}
