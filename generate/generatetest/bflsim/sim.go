// Package bflsim simulates the API of Black Forest Labs: POST /v1/<model> makes a
// task, GET /v1/get_result returns its state under a polling URL that may be on another
// host, and the finished picture is a link that expires after ten minutes. It checks the
// key and each endpoint's own fields, limits the unfinished tasks, bills in cents with
// floating-point noise, signs its webhooks, and answers faults with the API's
// messages. Its pictures are real files of the requested size.
//
// It defines no errors. It is a test package: no shipped code imports it.
package bflsim

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"time"

	"atelier/generate/generatetest"
	"atelier/internal/sim"
)

// linkLife is how long the link to a picture is valid.
const linkLife = 10 * time.Minute

// Config configures a [Simulator]; the zero value is valid.
type Config struct {
	// Key is the accepted key; default "bfl_simulated".
	Key string
	// Now is the clock for links; default always 2026-11-21 12:00 UTC.
	Now func() time.Time
	// Pending is how many polls return a task as unfinished; default 2, negative for none.
	Pending int
	// Active is the maximum number of unfinished tasks; default 24.
	Active int
	// PollOrigin and LinkOrigin are the origins of polling URLs and links; the default is the
	// origin of the request.
	PollOrigin, LinkOrigin string
	// Steady makes a picture depend only on its prompt and seed, so that runs can be compared;
	// otherwise pictures without a seed all differ.
	Steady bool
	// PictureBytes pads every PNG to at least this many bytes; default no padding.
	PictureBytes int
}

// Simulator is the API on loopback, under /v1.
type Simulator struct {
	*sim.Provider
	config Config
	tasks  sim.Tasks[*request]
}

var _ generatetest.Simulator = (*Simulator)(nil)

// task is one picture in progress.
type task = sim.Task[*request]

// New returns a simulator.
func New(c Config) *Simulator {
	c.Pending, c.Active = cmp.Or(c.Pending, 2), cmp.Or(c.Active, 24)
	s := &Simulator{config: c, Provider: sim.NewProvider(sim.Config{
		Key: cmp.Or(c.Key, "bfl_simulated"), Credential: "X-Key", Now: c.Now, PictureBytes: c.PictureBytes, Files: documented, Routes: routes, Script: script,
		Absent: sim.NoStreams.With(sim.Absence{
			sim.FaultForbidden: "a key may use every model, and 403 means that the key is bad",
			sim.FaultConflict:  "the API documents no 409",
			sim.FaultPartialN:  "a task makes one picture",
			sim.FaultListLost:  "the provider lists no tasks",
		}),
	})}
	s.Make("POST /v1/{model}", s.submit)
	s.Guard("GET /v1/get_result", s.poll)
	s.HandleFunc("GET /results/{name}", s.download)
	s.Handle("/", detail(http.StatusNotFound, "Not Found"))
	return s
}

// submit makes a task.
func (s *Simulator) submit(w http.ResponseWriter, c *sim.Call) {
	e, ok := endpoints()[c.PathValue("model")]
	if !ok {
		detail(http.StatusNotFound, "Not Found").Write(w)
		return
	}
	q, bad := e.parse(c.Body)
	if bad != nil {
		detail(http.StatusUnprocessableEntity, bad).Write(w)
		return
	}
	number := int64(c.Number) // distinguishes the pictures of one prompt
	if s.config.Steady {
		number = 0
	}
	if chosen := number * 7919; q.seed == nil {
		q.seed = &chosen
	}
	t := &task{ID: fmt.Sprintf("%08x-5f1d-4c3e-9b7a-0242ac120002", c.Number), Work: q, Fault: c.Fault}
	q.link = s.link(c, t)
	if !s.tasks.Begin(t, s.config.Active) {
		full := detail(http.StatusTooManyRequests, "Too many active tasks")
		full.Header = map[string]string{"Retry-After": "1"}
		full.Write(w)
		return
	}
	if strings.Contains(q.link, "/results/") {
		width, height := q.pixels()
		p := s.Picture(q.format, width, height, sim.Seed(q.prompt, *q.seed, number), t.Fault)
		s.Record(p)
		s.Put(t.ID+"."+q.format, sim.Link{Picture: p, DeclaredMIME: "image/" + q.format, Life: linkLife, Fault: t.Fault})
	}
	s.accept(w, c, t, e)
}

// link returns the link to the picture of a task; empty if there is none.
func (s *Simulator) link(c *sim.Call, t *task) string {
	switch t.Fault.Fault {
	case sim.FaultEmpty, sim.FaultModerated, sim.FaultTaskFailed, sim.FaultTaskLost:
		return ""
	case sim.FaultPrivateURL:
		return sim.PrivateURL(t.Fault)
	default:
		return sim.Origin(c.Request, s.config.LinkOrigin) + "/results/" + t.ID + "." + t.Work.format +
			"?se=" + s.Now().Add(linkLife).Format("2006-01-02T15%3A04%3A05Z") + "&sp=r&sv=2025-05-05&sr=b&rsct=image%2F" + t.Work.format + "&sig=c2ltdWxhdGVk"
	}
}

// accept answers a new task with its polling URL or, if it has a webhook, with its state.
func (s *Simulator) accept(w http.ResponseWriter, c *sim.Call, t *task, e endpoint) {
	in, out := t.Work.megapixels()
	answer := map[string]any{"id": t.ID, "cost": e.cost(in, out), "input_mp": round(in), "output_mp": round(out)}
	if t.Work.webhook != "" {
		answer["status"], answer["webhook_url"] = "Pending", t.Work.webhook
	} else {
		answer["polling_url"] = sim.Origin(c.Request, s.config.PollOrigin) + "/v1/get_result?id=" + t.ID
	}
	sim.Accept(w, t.Fault, answer)
}

// poll returns the state of a task.
func (s *Simulator) poll(w http.ResponseWriter, r *http.Request) {
	id := r.URL.Query().Get("id")
	w.Header().Set("X-Ratelimit-Limit", "1200")
	w.Header().Set("Retry-After", "0")
	t, over, failing := s.tasks.Poll(id, s.config.Pending)
	switch {
	case t != nil && t.Fault.Fault == sim.FaultTaskLost && t.Fault.Variant%2 == 1:
		detail(http.StatusNotFound, "Task not found").Write(w)
	case t == nil || t.Fault.Fault == sim.FaultTaskLost:
		sim.JSON(w, http.StatusOK, state(id, "Task not found", nil, nil))
	case failing:
		detail(http.StatusInternalServerError, "Internal Server Error").Write(w)
	case over:
		sim.JSON(w, http.StatusOK, final(t))
	default:
		sim.JSON(w, http.StatusOK, state(id, "Pending", nil, nil))
	}
}
