// Package openaisim simulates OpenAI's images endpoint: POST /v1/images/generations and
// /v1/images/edits (multipart), plain and streamed, POST /v1/audio/speech, and GET
// /v1/models. It checks keys, fields and sizes, retires models by date, counts tokens by
// OpenAI's table and answers faults in OpenAI's own words. Its pictures are real files
// of the asked size, its sounds real files of the asked format.
//
// It has no errors of its own. It is a test package: nothing that ships imports it.
package openaisim

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"atelier/generate/generatetest"
	"atelier/generate/generatetest/simulate"
	"atelier/media"
)

// Config sets up a [Simulator]; the zero value is good.
type Config struct {
	// Key is the accepted key; default "sk-simulated-openai".
	Key string
	// Now is the clock for life cycles; default 2026-11-21 12:00 UTC, always.
	Now func() time.Time
	// PictureBytes pads every PNG to at least this many bytes; default no padding.
	PictureBytes int
	// Own are the ids of models beside OpenAI's, for tests of services that speak its
	// protocol; default none. They take what gpt-image-2 takes.
	Own []string
	// Unverified names models that this account may not use before it is verified.
	Unverified []string
}

// Simulator is OpenAI on loopback.
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
		c.Key = "sk-simulated-openai"
	}
	if c.Now == nil {
		c.Now = func() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }
	}
	s := &Simulator{contract: contract(), config: c, painter: simulate.Painter{Bytes: c.PictureBytes}, mux: http.NewServeMux()}
	s.mux.HandleFunc("POST /v1/images/generations", s.generations)
	s.mux.HandleFunc("POST /v1/images/edits", s.edits)
	s.mux.HandleFunc("POST /v1/audio/speech", s.speech)
	s.mux.HandleFunc("GET /v1/models", s.models)
	return s
}

// ServeHTTP answers the protocol; the API lies under /v1.
func (s *Simulator) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Openai-Version", "2020-10-01")
	s.mux.ServeHTTP(w, r)
}

// Key is the accepted key.
func (s *Simulator) Key() string { return s.config.Key }

// Inject queues faults.
func (s *Simulator) Inject(faults ...generatetest.Injection) { s.journal.Inject(faults...) }

// Captured lists the calls.
func (s *Simulator) Captured() []generatetest.Captured { return s.journal.Captured() }

// Sent lists the digests of the pictures that went out, previews left out.
func (s *Simulator) Sent() []media.Digest { return s.journal.Sent() }

// authorized checks the key and answers if it is wrong.
func (s *Simulator) authorized(w http.ResponseWriter, r *http.Request) bool {
	if r.Header.Get("Authorization") == "Bearer "+s.config.Key {
		return true
	}
	s.unauthorized(w)
	return false
}

func (s *Simulator) generations(w http.ResponseWriter, r *http.Request) {
	s.answer(w, r, parse)
}

// answer takes one call through key, faults and checks.
func (s *Simulator) answer(w http.ResponseWriter, r *http.Request, parse func(body []byte) (*request, *problem)) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	call := s.journal.Capture(r, body)
	w.Header().Set("X-Request-Id", fmt.Sprintf("req_%08d", call))
	if !s.authorized(w, r) {
		return
	}
	fault := s.journal.Next()
	if s.answerFault(w, r, fault) {
		return
	}
	q, bad := parse(body)
	if bad == nil {
		bad = s.check(q)
	}
	if bad != nil {
		bad.write(w)
		return
	}
	s.draw(w, q, call, fault)
}

// draw answers a good request, with the fault in its pictures if there is one.
func (s *Simulator) draw(w http.ResponseWriter, q *request, call int, fault generatetest.Injection) {
	n := *q.N
	switch fault.Fault {
	case generatetest.FaultEmpty:
		n = 0
	case generatetest.FaultPartialN:
		n--
	default:
	}
	pictures := make([]simulate.Picture, n)
	for i := range pictures {
		pictures[i] = s.picture(q, fault, simulate.Seed(q.Prompt, int64(call), int64(i)))
		s.journal.Record(pictures[i])
	}
	if q.Stream {
		s.stream(w, q, pictures, fault.Fault)
		return
	}
	var body simulate.Body
	body.Text(`{"created":%d,"background":"opaque","data":[`, s.config.Now().Unix())
	for i, p := range pictures {
		if i > 0 {
			body.Text(",")
		}
		switch {
		case fault.Fault == generatetest.FaultPrivateURL:
			body.Text(`{"url":%q}`, privateURLs[fault.Variant%len(privateURLs)])
		case fault.Fault == generatetest.FaultNotMedia && fault.Variant%2 == 1:
			body.Text(`{"b64_json":%q}`, p.Bytes())
		default:
			body.Text(`{"b64_json":"`)
			body.Picture(p)
			body.Text(`"}`)
		}
	}
	width, height := q.pixels()
	body.Text(`],"output_format":%q,"quality":%q,"size":"%dx%d","usage":%s}`, q.OutputFormat, q.quality(), width, height, q.usage(n))
	if fault.Fault == generatetest.FaultHalfBody {
		body.WriteHalf(w)
	}
	body.Write(w)
}

// picture makes one picture, or what the fault puts in its place.
func (s *Simulator) picture(q *request, fault generatetest.Injection, seed uint64) simulate.Picture {
	width, height := q.pixels()
	switch fault.Fault {
	case generatetest.FaultTinyImage:
		return simulate.Tiny(seed)
	case generatetest.FaultHugeHeader:
		return simulate.HugeHeader()
	case generatetest.FaultNotMedia:
		return simulate.NotMedia("image/" + q.OutputFormat)
	case generatetest.FaultLyingType: // says png or what was asked, is another format
		if q.OutputFormat == "jpeg" {
			return s.painter.Paint("png", width, height, seed)
		}
		return s.painter.Paint("jpeg", width, height, seed)
	default:
		return s.painter.Paint(q.OutputFormat, width, height, seed)
	}
}

// stream answers events: previews, then the whole picture, for each in turn.
func (s *Simulator) stream(w http.ResponseWriter, q *request, pictures []simulate.Picture, fault generatetest.Fault) {
	half := fault == generatetest.FaultHalfBody
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	flusher := http.NewResponseController(w)
	width, height := q.pixels()
	same := fmt.Sprintf(`"created_at":%d,"size":"%dx%d","quality":%q,"background":"opaque","output_format":%q`,
		s.config.Now().Unix(), width, height, q.quality(), q.OutputFormat)
	prefix := "image_generation"
	if q.Edit != nil {
		prefix = "image_edit"
	}
	send := func(kind string, p simulate.Picture, rest string) {
		kind = prefix + kind
		pieces := p.Base64()
		b := fmt.Sprintf("event: %s\ndata: {\"type\":%q,\"b64_json\":\"%s%s\",%s%s}\n\n", kind, kind, pieces[0], pieces[1], same, rest)
		if half && strings.HasSuffix(kind, ".completed") {
			b = b[:len(b)/2]
		}
		_, _ = io.WriteString(w, b)
		_ = flusher.Flush()
		if half && strings.HasSuffix(kind, ".completed") {
			panic(http.ErrAbortHandler)
		}
	}
	for i, p := range pictures {
		for frame := range q.PartialImages {
			preview := s.painter.Paint(q.OutputFormat, width, height, simulate.Seed("preview", int64(i), int64(frame)))
			send(".partial_image", preview, fmt.Sprintf(`,"partial_image_index":%d`, frame))
		}
		if fault == generatetest.FaultPartialsThenError {
			_, _ = io.WriteString(w, "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"server_error\",\"code\":\"server_error\",\"message\":\"The server had an error while processing your request.\",\"param\":null}}\n\n")
			return
		}
		send(".completed", p, `,"usage":`+q.usage(1))
	}
}

// models lists what the account can see, with the day each goes.
func (s *Simulator) models(w http.ResponseWriter, r *http.Request) {
	if !s.authorized(w, r) {
		return
	}
	type entry struct {
		ID           string  `json:"id"`
		Object       string  `json:"object"`
		OwnedBy      string  `json:"owned_by"`
		ShutdownDate *string `json:"shutdown_date"`
	}
	data := []entry{}
	for _, m := range catalogue() {
		if !m.alive(s.config.Now()) {
			continue
		}
		e := entry{ID: m.id, Object: "model", OwnedBy: "system"}
		if m.shutDown != "" {
			e.ShutdownDate = &m.shutDown
		}
		data = append(data, e)
	}
	slices.SortFunc(data, func(a, b entry) int { return strings.Compare(a.ID, b.ID) })
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": data})
}
