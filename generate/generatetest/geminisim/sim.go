// Package geminisim simulates the Gemini API for image and speech models: generateContent and
// streamGenerateContent under /v1beta/models, and the list of models. It checks
// keys, ratios and tiers, retires models by date, thinks before it draws, counts
// tokens by Google's table and answers faults in Google's own words. Its pictures
// are real files of the size that the ratio and the tier mean: PNG from the Pro
// models, JPEG from the Flash models.
//
// It has no errors of its own. It is a test package: nothing that ships imports it.
package geminisim

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"atelier/generate/generatetest"
	"atelier/generate/generatetest/simulate"
	"atelier/media"
)

// Config sets up a [Simulator]; the zero value is good.
type Config struct {
	// Key is the accepted key; default "simulated-gemini-key".
	Key string
	// Now is the clock for life cycles; default 2026-11-21 12:00 UTC, always.
	Now func() time.Time
	// PictureBytes pads every PNG to at least this many bytes; default no padding.
	PictureBytes int
	// Pictures is how many pictures one call gives; default 1. The real models may
	// give several.
	Pictures int
}

// Simulator is the Gemini API on loopback.
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
		c.Key = "simulated-gemini-key"
	}
	if c.Now == nil {
		c.Now = func() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }
	}
	if c.Pictures == 0 {
		c.Pictures = 1
	}
	s := &Simulator{contract: contract(), config: c, painter: simulate.Painter{Bytes: c.PictureBytes}, mux: http.NewServeMux()}
	s.mux.HandleFunc("POST /v1beta/models/{call}", s.generate)
	s.mux.HandleFunc("GET /v1beta/models", s.models)
	return s
}

// ServeHTTP answers the protocol; the API lies under /v1beta.
func (s *Simulator) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Gemini-Service-Tier", "standard")
	s.mux.ServeHTTP(w, r)
}

// Key is the accepted key.
func (s *Simulator) Key() string { return s.config.Key }

// Inject queues faults.
func (s *Simulator) Inject(faults ...generatetest.Injection) { s.journal.Inject(faults...) }

// Captured lists the calls.
func (s *Simulator) Captured() []generatetest.Captured { return s.journal.Captured() }

// Sent lists the digests of the pictures that went out, thoughts left out.
func (s *Simulator) Sent() []media.Digest { return s.journal.Sent() }

// authorized checks the key, in its header or in the query, and answers if it is wrong.
func (s *Simulator) authorized(w http.ResponseWriter, r *http.Request) bool {
	if r.Header.Get("X-Goog-Api-Key") == s.config.Key || r.URL.Query().Get("key") == s.config.Key {
		return true
	}
	badKey().write(w)
	return false
}

func (s *Simulator) generate(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	call := s.journal.Capture(r, body)
	if !s.authorized(w, r) {
		return
	}
	fault := s.journal.Next()
	name, method, _ := strings.Cut(r.PathValue("call"), ":")
	if s.answerFault(w, r, name, fault) {
		return
	}
	m, ok := find(name, s.config.Now())
	if !ok || method != "generateContent" && method != "streamGenerateContent" {
		notFound(name).write(w)
		return
	}
	q, bad := parse(body, m)
	if bad != nil {
		bad.write(w)
		return
	}
	answerWith := s.draw
	if m.speaks {
		answerWith = s.speak
	}
	answer := answerWith(m, q, call, fault)
	switch {
	case fault.Fault == generatetest.FaultHalfBody:
		answer.WriteHalf(w)
	case method == "streamGenerateContent":
		s.stream(w, r, answer.String())
	default:
		answer.Write(w)
	}
}

// draw writes the answer to a good request, with the fault in its picture if there
// is one.
func (s *Simulator) draw(m model, q *request, call int, fault generatetest.Injection) *simulate.Body {
	seed := int64(call)
	if q.Config.Seed != nil {
		seed = *q.Config.Seed // best effort, as there: the same seed gives the same picture
	}
	body := &simulate.Body{}
	body.Text(`{"candidates":[{"content":{"role":"model","parts":[`)
	comma := ""
	if m.thinks {
		body.Text(`{"text":"I compose the scene.","thought":true},{"inlineData":{"mimeType":"image/png","data":"`)
		body.Picture(s.painter.Paint("png", 256, 256, simulate.Seed("thought", seed)))
		body.Text(`"},"thought":true}`)
		comma = ","
	}
	pictures := s.config.Pictures
	if fault.Fault == generatetest.FaultEmpty {
		pictures = 0
	} else {
		body.Text(`%s{"text":"Here is your picture."}`, comma)
	}
	for i := range pictures {
		p := s.picture(m, q, fault, simulate.Seed(q.prompt(), seed, int64(i)))
		s.journal.Record(p)
		body.Text(`,{"inlineData":{"mimeType":%q,"data":"`, declared(m, p, fault))
		if fault.Fault == generatetest.FaultNotMedia && fault.Variant%2 == 1 {
			body.Text("%s", p.Bytes())
		} else {
			body.Picture(p)
		}
		body.Text(`"},"thoughtSignature":%q}`, signature(seed))
	}
	body.Text(`]},"finishReason":"STOP","index":0}],"usageMetadata":%s,"modelVersion":%q,"responseId":"sim-%d"}`,
		m.usage(q, pictures), m.id, call)
	return body
}

// signature stands for the state that models want back verbatim: long base64 that
// nobody may take for media.
func signature(seed int64) string {
	raw := []byte(strings.Repeat(fmt.Sprintf("signature %d of a thought. ", seed), 60))
	return base64.StdEncoding.EncodeToString(raw)
}

// declared is the type that the answer names; a lie where the fault asks for one.
func declared(m model, p simulate.Picture, fault generatetest.Injection) string {
	if fault.Fault == generatetest.FaultLyingType {
		return "image/" + m.format
	}
	return p.MIMEType
}

// picture makes one picture, or what the fault puts in its place.
func (s *Simulator) picture(m model, q *request, fault generatetest.Injection, seed uint64) simulate.Picture {
	width, height := m.pixels(q)
	switch fault.Fault {
	case generatetest.FaultTinyImage:
		return simulate.Tiny(seed)
	case generatetest.FaultHugeHeader:
		return simulate.HugeHeader()
	case generatetest.FaultNotMedia:
		return simulate.NotMedia("image/" + m.format)
	case generatetest.FaultLyingType:
		other := map[string]string{"png": "jpeg", "jpeg": "png"}
		return s.painter.Paint(other[m.format], width, height, seed)
	default:
		return s.painter.Paint(m.format, width, height, seed)
	}
}

// stream sends the answer as the real service does: one event with everything but
// the end, then one with the finish reason. Without alt=sse it is a JSON array.
func (s *Simulator) stream(w http.ResponseWriter, r *http.Request, answer string) {
	first := strings.Replace(answer, `"finishReason":"STOP",`, "", 1)
	last := `{"candidates":[{"content":{"role":"model"},"finishReason":"STOP","index":0}]}`
	if r.URL.Query().Get("alt") != "sse" {
		w.Header().Set("Content-Type", "application/json; charset=UTF-8")
		_, _ = io.WriteString(w, "["+first+",\r\n"+last+"]")
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, "data: "+first+"\r\n\r\ndata: "+last+"\r\n\r\n")
}

// models lists the models that live.
func (s *Simulator) models(w http.ResponseWriter, r *http.Request) {
	if !s.authorized(w, r) {
		return
	}
	type entry struct {
		Name    string   `json:"name"`
		Display string   `json:"displayName"`
		Methods []string `json:"supportedGenerationMethods"`
	}
	list := []entry{}
	for _, m := range catalogue() {
		if m.alive(s.config.Now()) {
			list = append(list, entry{Name: "models/" + m.id, Display: m.id, Methods: []string{"generateContent", "countTokens"}})
		}
	}
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	_ = json.NewEncoder(w).Encode(map[string]any{"models": list})
}
