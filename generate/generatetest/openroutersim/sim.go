// Package openroutersim simulates OpenRouter for image models: POST /api/v1/chat/completions,
// POST /api/v1/images, whose pictures are data alone, and GET /api/v1/models. It checks keys, models, modalities
// and pictures, pads its answers with blank lines as the real one does to keep
// connections alive, names the cost of each call, and answers faults in OpenRouter's own
// words. Its pictures are real files of the ratio and the tier that were asked for.
//
// It has no errors of its own. It is a test package: nothing that ships imports it.
package openroutersim

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"atelier/generate/generatetest"
	"atelier/generate/generatetest/simulate"
	"atelier/media"
)

// Config sets up a [Simulator]; the zero value is good.
type Config struct {
	// Key is the accepted key; default "sk-or-simulated".
	Key string
	// Now is the clock that reset times are told by; default 2026-11-21 12:00 UTC, always.
	Now func() time.Time
	// Pictures is how many pictures one call gives; default 1. Models may give several.
	Pictures int
	// Links answers with links to pictures on this server instead of data.
	Links bool
}

// Simulator is OpenRouter on loopback.
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
		c.Key = "sk-or-simulated"
	}
	if c.Now == nil {
		c.Now = func() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }
	}
	if c.Pictures == 0 {
		c.Pictures = 1
	}
	s := &Simulator{contract: contract(), config: c, mux: http.NewServeMux()}
	s.mux.HandleFunc("POST /api/v1/chat/completions", s.complete)
	s.mux.HandleFunc("POST /api/v1/images", s.typed)
	s.mux.HandleFunc("GET /api/v1/models", s.models)
	s.mux.HandleFunc("GET /files/{size}", s.file)
	return s
}

// ServeHTTP answers the protocol; the API lies under /api/v1.
func (s *Simulator) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Key is the accepted key.
func (s *Simulator) Key() string { return s.config.Key }

// Inject queues faults.
func (s *Simulator) Inject(faults ...generatetest.Injection) { s.journal.Inject(faults...) }

// Captured lists the calls.
func (s *Simulator) Captured() []generatetest.Captured { return s.journal.Captured() }

// Sent lists the digests of the pictures that went out.
func (s *Simulator) Sent() []media.Digest { return s.journal.Sent() }

// authorized checks the key and answers if it is wrong.
func (s *Simulator) authorized(w http.ResponseWriter, r *http.Request) bool {
	if r.Header.Get("Authorization") == "Bearer "+s.config.Key {
		return true
	}
	newProblem(http.StatusUnauthorized, "Missing Authentication header").write(w)
	return false
}

// complete takes one call through key, faults and checks.
func (s *Simulator) complete(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	call := s.journal.Capture(r, body)
	w.Header().Set("X-Generation-Id", fmt.Sprintf("gen-%d", call))
	if !s.authorized(w, r) {
		return
	}
	fault := s.journal.Next()
	q, bad := parse(body)
	if s.answerFault(w, r, q, fault) {
		return
	}
	if bad != nil {
		bad.write(w)
		return
	}
	answer := s.draw(r, q, call, fault)
	if fault.Fault == generatetest.FaultHalfBody {
		answer.WriteHalf(w)
	}
	answer.Write(w)
}

// draw writes the answer to a good request, with the fault in its picture if there is
// one.
func (s *Simulator) draw(r *http.Request, q *request, call int, fault generatetest.Injection) *simulate.Body {
	seed := int64(call)
	if q.Seed != nil {
		seed = *q.Seed
	}
	body := &simulate.Body{}
	body.Text("\n         \n\n") // keep-alive
	body.Text(`{"id":"gen-%d","provider":"Simulated","model":%q,"object":"chat.completion","created":%d,"choices":[{"logprobs":null,"finish_reason":"stop","native_finish_reason":"STOP","index":0,"message":{"role":"assistant","content":"","refusal":null,"reasoning":null,"images":[`,
		call, q.Model, s.config.Now().Unix())
	n := s.config.Pictures
	if fault.Fault == generatetest.FaultEmpty {
		n = 0
	}
	for i := range n {
		if i > 0 {
			body.Text(",")
		}
		s.picture(body, r, q, fault, simulate.Seed(q.prompt(), seed, int64(i)))
	}
	tokens := 1290 * n
	body.Text(`]}}],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d,"cost":%s,"is_byok":false,"completion_tokens_details":{"image_tokens":%d,"reasoning_tokens":0}}}`,
		max(len(q.prompt())/4, 1), tokens, tokens+max(len(q.prompt())/4, 1), cost(n), tokens)
	return body
}

// cost is what a call costs: a number that has no short form in binary, and an exponent
// where nothing was made.
func cost(pictures int) string {
	if pictures == 0 {
		return "2.4e-06"
	}
	return fmt.Sprintf("%d.%04d", pictures*387/10000, pictures*387%10000)
}

// picture writes one entry of images, or what the fault puts in its place.
func (s *Simulator) picture(body *simulate.Body, r *http.Request, q *request, fault generatetest.Injection, seed uint64) {
	width, height := q.pixels()
	p, kind := s.painter.Paint("png", width, height, seed), "image/png"
	switch fault.Fault {
	case generatetest.FaultTinyImage:
		p = simulate.Tiny(seed)
	case generatetest.FaultHugeHeader:
		p = simulate.HugeHeader()
	case generatetest.FaultNotMedia:
		p = simulate.NotMedia(kind)
	case generatetest.FaultLyingType:
		p = s.painter.Paint("jpeg", width, height, seed)
	default:
	}
	s.journal.Record(p)
	link := ""
	switch {
	case fault.Fault == generatetest.FaultPrivateURL:
		link = []string{"http://169.254.169.254/latest/meta-data/picture.png", "http://10.0.0.1/picture.png"}[fault.Variant%2]
	case fault.Fault == generatetest.FaultNotMedia && fault.Variant%2 == 1:
		link = "sandbox:/mnt/data/picture.png"
	case s.config.Links:
		link = fmt.Sprintf("http://%s/files/%dx%d?seed=%d", r.Host, width, height, seed)
	}
	if link != "" {
		body.Text(`{"type":"image_url","image_url":{"url":%q},"index":0}`, link)
		return
	}
	body.Text(`{"type":"image_url","image_url":{"url":"data:%s;base64,`, kind)
	body.Picture(p)
	body.Text(`"},"index":0}`)
}

// file serves the picture of a link, which needs no key.
func (s *Simulator) file(w http.ResponseWriter, r *http.Request) {
	var width, height int
	var seed uint64
	_, _ = fmt.Sscanf(r.PathValue("size"), "%dx%d", &width, &height) // a wrong link gives an empty picture
	_, _ = fmt.Sscan(r.URL.Query().Get("seed"), &seed)
	w.Header().Set("Content-Type", "image/png")
	_, _ = w.Write(s.painter.Paint("png", width, height, seed).Bytes())
}

// models lists the image models.
func (s *Simulator) models(w http.ResponseWriter, _ *http.Request) {
	type entry struct {
		ID           string              `json:"id"`
		Architecture map[string][]string `json:"architecture"`
	}
	list := []entry{}
	for _, id := range catalogue() {
		list = append(list, entry{id, map[string][]string{"input_modalities": {"text", "image"}, "output_modalities": {"image", "text"}}})
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"data": list})
}
