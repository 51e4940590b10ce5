// Package geminisim simulates the Gemini API for image and speech models: generateContent and
// streamGenerateContent under /v1beta/models, and the list of models. It checks
// keys, ratios and tiers, retires models by date, returns thoughts before pictures, counts
// tokens by Google's table and answers faults with Google's messages. Its pictures
// are real files of the size that ratio and tier specify: PNG from the Pro
// models, JPEG from the Flash models.
//
// It defines no errors. It is a test package: no shipped code imports it.
package geminisim

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"time"

	"atelier/generate/generatetest"
	"atelier/internal/sim"
)

// Config configures a [Simulator]; the zero value is valid.
type Config struct {
	// Key is the accepted key; default "simulated-gemini-key".
	Key string
	// Now is the clock for life cycles; default always 2026-11-21 12:00 UTC.
	Now func() time.Time
	// PictureBytes pads every PNG to at least this many bytes; default no padding.
	PictureBytes int
	// Pictures is the number of pictures per call; default 1. The real models may
	// make several.
	Pictures int
}

// Simulator is the Gemini API on loopback; the API is under /v1beta.
type Simulator struct {
	*sim.Provider
	config Config
}

var _ generatetest.Simulator = (*Simulator)(nil)

// New returns a simulator.
func New(c Config) *Simulator {
	c.Pictures = cmp.Or(c.Pictures, 1)
	s := &Simulator{config: c, Provider: sim.NewProvider(sim.Config{ //nolint:gosec // Not real credentials.
		Key: cmp.Or(c.Key, "simulated-gemini-key"), Credential: "X-Goog-Api-Key", Query: "key", Now: c.Now, PictureBytes: c.PictureBytes,
		Files: documented, Routes: routes, Script: script,
		Absent: sim.NoStreams.With(sim.NoTasks).With(sim.NoLinks).With(sim.Absence{
			sim.FaultPrivateURL: sim.NoLinks[sim.FaultHalfLink], sim.FaultPartialN: "a call gives one picture",
		}),
	})}
	s.Make("POST /v1beta/models/{call}", s.generate)
	s.Guard("GET /v1beta/models", s.models)
	return s
}

// ServeHTTP implements the protocol.
func (s *Simulator) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Gemini-Service-Tier", "standard")
	s.Provider.ServeHTTP(w, r)
}

func (s *Simulator) generate(w http.ResponseWriter, c *sim.Call) {
	name, method := split(c)
	m, ok := find(name, s.Now())
	if !ok || method != "generateContent" && method != "streamGenerateContent" {
		notFound(name).Write(w)
		return
	}
	q, bad := parse(c.Body, m)
	if bad != nil {
		bad.Write(w)
		return
	}
	answerWith := s.draw
	if m.speaks {
		answerWith = s.speak
	}
	answer := answerWith(m, q, c)
	if method == "streamGenerateContent" && c.Fault.Fault != sim.FaultHalfBody {
		s.stream(w, c, answer.String())
		return
	}
	answer.Write(w, c.Fault)
}

// draw builds the answer to a valid request, with the fault in its picture if there
// is one.
func (s *Simulator) draw(m model, q *request, c *sim.Call) *sim.Body {
	seed := int64(c.Number)
	if q.Config.Seed != nil {
		seed = *q.Config.Seed // best effort, as in the real API: the same seed makes the same picture
	}
	body := &sim.Body{}
	body.Text(`{"candidates":[{"content":{"role":"model","parts":[`)
	comma := ""
	if m.thinks {
		body.Text(`{"text":"I compose the scene.","thought":true},{"inlineData":{"mimeType":"image/png","data":"`)
		body.Picture(s.Paint("png", 256, 256, sim.Seed("thought", seed)))
		body.Text(`"},"thought":true}`)
		comma = ","
	}
	pictures := s.config.Pictures
	if c.Fault.Fault == sim.FaultEmpty {
		pictures = 0
	} else {
		body.Text(`%s{"text":"Here is your picture."}`, comma)
	}
	width, height := m.pixels(q)
	for i := range pictures {
		p := s.Picture(m.format, width, height, sim.Seed(q.prompt(), seed, int64(i)), c.Fault)
		s.Record(p)
		body.Text(`,{"inlineData":{"mimeType":%q,"data":"`, declared(m, p, c.Fault))
		body.Media(p, c.Fault)
		body.Text(`"},"thoughtSignature":%q}`, signature(seed))
	}
	body.Text(`]},"finishReason":"STOP","index":0}],"usageMetadata":%s,"modelVersion":%q,"responseId":"sim-%d"}`,
		m.usage(q, pictures), m.id, c.Number)
	return body
}

// signature returns the state that models expect back verbatim: long base64 that
// must not be taken for media.
func signature(seed int64) string {
	raw := []byte(strings.Repeat(fmt.Sprintf("signature %d of a thought. ", seed), 60))
	return base64.StdEncoding.EncodeToString(raw)
}

// declared returns the type that the answer names; a false one if the fault requires it.
func declared(m model, p sim.Picture, fault sim.Injection) string {
	if fault.Fault == sim.FaultLyingType {
		return "image/" + m.format
	}
	return p.MIMEType
}

// stream sends the answer as the real service does: one event with everything except
// the finish reason, then one with it. Without alt=sse it is a JSON array.
func (s *Simulator) stream(w http.ResponseWriter, c *sim.Call, answer string) {
	first := strings.Replace(answer, `"finishReason":"STOP",`, "", 1)
	last := `{"candidates":[{"content":{"role":"model"},"finishReason":"STOP","index":0}]}`
	if c.URL.Query().Get("alt") != "sse" {
		sim.Answer{Type: jsonType, Body: "[" + first + ",\r\n" + last + "]"}.Write(w)
		return
	}
	sim.Answer{Type: "text/event-stream", Body: "data: " + first + "\r\n\r\ndata: " + last + "\r\n\r\n"}.Write(w)
}

// models lists the active models.
func (s *Simulator) models(w http.ResponseWriter, _ *http.Request) {
	type entry struct {
		Name    string   `json:"name"`
		Display string   `json:"displayName"`
		Methods []string `json:"supportedGenerationMethods"`
	}
	list := []entry{}
	for _, m := range catalogue() {
		if m.alive(s.Now()) {
			list = append(list, entry{Name: "models/" + m.id, Display: m.id, Methods: []string{"generateContent", "countTokens"}})
		}
	}
	sim.JSON(w, http.StatusOK, map[string]any{"models": list})
}
