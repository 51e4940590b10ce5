// Package openaisim simulates OpenAI's images endpoint: POST /v1/images/generations and
// /v1/images/edits (multipart), plain and streamed, POST /v1/audio/speech, and GET
// /v1/models. It checks keys, fields and sizes, retires models by date, counts tokens by
// OpenAI's table and answers faults with OpenAI's messages. Its pictures are real files
// of the requested size, its sounds real files in the requested format.
//
// It defines no errors. It is a test package: no shipped code imports it.
package openaisim

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"atelier/generate/generatetest"
	"atelier/internal/sim"
)

// Config configures a [Simulator]; the zero value is valid.
type Config struct {
	// Key is the accepted key; default "sk-simulated-openai".
	Key string
	// Now is the clock for life cycles; default always 2026-11-21 12:00 UTC.
	Now func() time.Time
	// PictureBytes pads every PNG to at least this many bytes; default no padding.
	PictureBytes int
	// ExtraModels lists the ids of models in addition to OpenAI's, for tests of services with its
	// protocol; default none. They accept what gpt-image-2 accepts.
	ExtraModels []string
	// Unverified lists models that require a verified account.
	Unverified []string
}

// Simulator is OpenAI on loopback; the API is under /v1.
type Simulator struct {
	*sim.Provider
	config Config
}

var _ generatetest.Simulator = (*Simulator)(nil)

// New returns a simulator.
func New(c Config) *Simulator {
	s := &Simulator{config: c, Provider: sim.NewProvider(sim.Config{
		Key: cmp.Or(c.Key, "sk-simulated-openai"), Credential: "Authorization", Now: c.Now, PictureBytes: c.PictureBytes,
		Files: documented, Routes: routes, Script: script, Stamp: stamp,
		Absent: sim.NoTasks.With(sim.NoLinks).With(sim.Absence{sim.FaultPreviewLost: "previews come in the answer, not by link"}),
	})}
	s.Make("POST /v1/images/generations", func(w http.ResponseWriter, c *sim.Call) { s.answer(w, c, parse) })
	s.Make("POST /v1/images/edits", s.edits)
	s.Make("POST /v1/audio/speech", s.speech)
	s.Guard("GET /v1/models", s.models)
	return s
}

// ServeHTTP implements the protocol.
func (s *Simulator) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Openai-Version", "2020-10-01")
	s.Provider.ServeHTTP(w, r)
}

// answer validates a call and answers it.
func (s *Simulator) answer(w http.ResponseWriter, c *sim.Call, parse func(body []byte) (*request, *sim.Answer)) {
	q, bad := parse(c.Body)
	if bad == nil {
		bad = s.check(q)
	}
	if bad != nil {
		bad.Write(w)
		return
	}
	s.draw(w, q, c)
}

// draw answers a valid request, with the fault in its pictures if there is one.
func (s *Simulator) draw(w http.ResponseWriter, q *request, c *sim.Call) {
	n := *q.N
	switch c.Fault.Fault {
	case sim.FaultEmpty:
		n = 0
	case sim.FaultPartialN:
		n--
	default:
	}
	width, height := q.pixels()
	pictures := make([]sim.Picture, n)
	for i := range pictures {
		pictures[i] = s.Picture(q.OutputFormat, width, height, sim.Seed(q.Prompt, int64(c.Number), int64(i)), c.Fault)
		s.Record(pictures[i])
	}
	if q.Stream {
		s.stream(w, q, pictures, c.Fault.Fault)
		return
	}
	var body sim.Body
	body.Text(`{"created":%d,"background":"opaque","data":[`, s.Now().Unix())
	for i, p := range pictures {
		if i > 0 {
			body.Text(",")
		}
		if c.Fault.Fault == sim.FaultPrivateURL {
			body.Text(`{"url":%q}`, sim.PrivateURL(c.Fault))
			continue
		}
		body.Text(`{"b64_json":"`)
		body.Media(p, c.Fault)
		body.Text(`"}`)
	}
	body.Text(`],"output_format":%q,"quality":%q,"size":"%dx%d","usage":%s}`, q.OutputFormat, q.quality(), width, height, q.usage(n))
	body.Write(w, c.Fault)
}

// stream answers with events: for each picture in turn, previews, then the picture.
func (s *Simulator) stream(w http.ResponseWriter, q *request, pictures []sim.Picture, fault sim.Fault) {
	events := sim.NewEvents(w)
	width, height := q.pixels()
	same := fmt.Sprintf(`"created_at":%d,"size":"%dx%d","quality":%q,"background":"opaque","output_format":%q`,
		s.Now().Unix(), width, height, q.quality(), q.OutputFormat)
	prefix := "image_generation"
	if q.Edit != nil {
		prefix = "image_edit"
	}
	event := func(kind string, p sim.Picture, rest string) (name, data string) {
		pieces := p.Base64()
		return prefix + kind, fmt.Sprintf(`{"type":%q,"b64_json":"%s%s",%s%s}`, prefix+kind, pieces[0], pieces[1], same, rest)
	}
	for i, p := range pictures {
		for frame := range q.PartialImages {
			preview := s.Paint(q.OutputFormat, width, height, sim.Seed("preview", int64(i), int64(frame)))
			events.Send(event(".partial_image", preview, fmt.Sprintf(`,"partial_image_index":%d`, frame)))
		}
		name, data := event(".completed", p, `,"usage":`+q.usage(1))
		switch fault {
		case sim.FaultPartialsThenError:
			events.Send("error", `{"type":"error","error":{"type":"server_error","code":"server_error","message":"The server had an error while processing your request.","param":null}}`)
			return
		case sim.FaultHalfBody:
			events.Cut(name, data)
		default:
			events.Send(name, data)
		}
	}
}

// models lists the models that the account can see, with their shutdown dates.
func (s *Simulator) models(w http.ResponseWriter, _ *http.Request) {
	type entry struct {
		ID           string  `json:"id"`
		Object       string  `json:"object"`
		OwnedBy      string  `json:"owned_by"`
		ShutdownDate *string `json:"shutdown_date"`
	}
	data := []entry{}
	for _, m := range catalogue() {
		if !m.alive(s.Now()) {
			continue
		}
		e := entry{ID: m.id, Object: "model", OwnedBy: "system"}
		if m.shutDown != "" {
			e.ShutdownDate = &m.shutDown
		}
		data = append(data, e)
	}
	slices.SortFunc(data, func(a, b entry) int { return strings.Compare(a.ID, b.ID) })
	sim.JSON(w, http.StatusOK, map[string]any{"object": "list", "data": data})
}
