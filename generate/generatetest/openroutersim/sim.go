// Package openroutersim simulates OpenRouter for image models: POST /api/v1/chat/completions,
// POST /api/v1/images, which returns pictures as data only, and GET /api/v1/models. It checks keys, models,
// modalities and pictures, pads its answers with blank lines as OpenRouter does to keep connections alive,
// reports the cost of each call, and answers faults with OpenRouter's messages. Its pictures are real files
// with the requested ratio and tier.
//
// It defines no errors. It is a test package: no shipped code imports it.
package openroutersim

import (
	"cmp"
	"fmt"
	"net/http"
	"time"

	"atelier/generate/generatetest"
	"atelier/internal/sim"
)

// Config configures a [Simulator]; the zero value is valid.
type Config struct {
	// Key is the accepted key; default "sk-or-simulated".
	Key string
	// Now is the clock for reset times; default always 2026-11-21 12:00 UTC.
	Now func() time.Time
	// Pictures is the number of pictures per call; default 1. Models may make several.
	Pictures int
	// Links answers with links to pictures on this server instead of data.
	Links bool
}

// Simulator is OpenRouter on loopback; the API is under /api/v1.
type Simulator struct {
	*sim.Provider
	config Config
}

var _ generatetest.Simulator = (*Simulator)(nil)

// New returns a simulator.
func New(c Config) *Simulator {
	c.Pictures = cmp.Or(c.Pictures, 1)
	s := &Simulator{config: c}
	s.Provider = sim.NewProvider(sim.Config{
		Key: cmp.Or(c.Key, "sk-or-simulated"), Credential: "Authorization", Now: c.Now, Files: documented, Routes: routes, Script: s.script,
		Refuse: func(*http.Request) sim.Answer {
			return *newProblem(http.StatusUnauthorized, "Missing Authentication header")
		},
		Absent: sim.NoStreams.With(sim.NoTasks).With(sim.Absence{
			sim.FaultExpiredLink: noLinks, sim.FaultHalfLink: noLinks, sim.FaultPartialN: "a call gives one picture",
		}),
	})
	s.Make("POST /api/v1/chat/completions", s.complete)
	s.Make("POST /api/v1/images", s.typed)
	s.HandleFunc("GET /api/v1/models", s.models)
	s.HandleFunc("GET /files/{size}", s.file)
	return s
}

const noLinks = "pictures come in the answer; links are rare and do not expire"

// complete answers one call of chat completions.
func (s *Simulator) complete(w http.ResponseWriter, c *sim.Call) {
	w.Header().Set("X-Generation-Id", fmt.Sprintf("gen-%d", c.Number))
	q, bad := parse(c.Body)
	if bad != nil {
		bad.Write(w)
		return
	}
	s.draw(c, q).Write(w, c.Fault)
}

// draw builds the answer to a valid request, with the fault in its picture if there is
// one.
func (s *Simulator) draw(c *sim.Call, q *request) *sim.Body {
	seed := int64(c.Number)
	if q.Seed != nil {
		seed = *q.Seed
	}
	body := &sim.Body{}
	body.Text("\n         \n\n") // keep-alive
	body.Text(`{"id":"gen-%d","provider":"Simulated","model":%q,"object":"chat.completion","created":%d,"choices":[{"logprobs":null,"finish_reason":"stop","native_finish_reason":"STOP","index":0,"message":{"role":"assistant","content":"","refusal":null,"reasoning":null,"images":[`,
		c.Number, q.Model, s.Now().Unix())
	n := s.config.Pictures
	if c.Fault.Fault == sim.FaultEmpty {
		n = 0
	}
	for i := range n {
		if i > 0 {
			body.Text(",")
		}
		s.picture(body, c, q, sim.Seed(q.prompt(), seed, int64(i)))
	}
	tokens := 1290 * n
	body.Text(`]}}],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d,"cost":%s,"is_byok":false,"completion_tokens_details":{"image_tokens":%d,"reasoning_tokens":0}}}`,
		max(len(q.prompt())/4, 1), tokens, tokens+max(len(q.prompt())/4, 1), cost(n), tokens)
	return body
}

// cost returns the cost of a call: a number without a short binary form, or one with an exponent
// if nothing was made.
func cost(pictures int) string {
	if pictures == 0 {
		return "2.4e-06"
	}
	return fmt.Sprintf("%d.%04d", pictures*387/10000, pictures*387%10000)
}

// picture writes one entry of images, or the fault in its place.
func (s *Simulator) picture(body *sim.Body, c *sim.Call, q *request, seed uint64) {
	width, height := q.pixels()
	p := s.Picture("png", width, height, seed, c.Fault)
	s.Record(p)
	link := ""
	switch {
	case c.Fault.Fault == sim.FaultPrivateURL:
		link = sim.PrivateURL(c.Fault)
	case c.Fault.Fault == sim.FaultNotMedia && c.Fault.Variant%2 == 1:
		link = "sandbox:/mnt/data/picture.png"
	case s.config.Links:
		link = fmt.Sprintf("%s/files/%dx%d?seed=%d", sim.Origin(c.Request, ""), width, height, seed)
	}
	if link != "" {
		body.Text(`{"type":"image_url","image_url":{"url":%q},"index":0}`, link)
		return
	}
	body.Text(`{"type":"image_url","image_url":{"url":"data:image/png;base64,`)
	body.Picture(p)
	body.Text(`"},"index":0}`)
}

// file serves the picture of a link without requiring a key.
func (s *Simulator) file(w http.ResponseWriter, r *http.Request) {
	var width, height int
	var seed uint64
	_, _ = fmt.Sscanf(r.PathValue("size"), "%dx%d", &width, &height) // an invalid link returns an empty picture
	_, _ = fmt.Sscan(r.URL.Query().Get("seed"), &seed)
	w.Header().Set("Content-Type", "image/png")
	_, _ = w.Write(s.Paint("png", width, height, seed).Bytes())
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
	sim.JSON(w, http.StatusOK, map[string]any{"data": list})
}
