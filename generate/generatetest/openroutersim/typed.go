package openroutersim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"atelier/generate/generatetest"
	"atelier/internal/sim"
)

// Typed presents a [Simulator] to the suite as a provider of the images endpoint.
type Typed struct{ *Simulator }

var _ generatetest.Simulator = Typed{}

// NewTyped returns a simulator for tests of the images endpoint.
func NewTyped(c Config) Typed { return Typed{New(c)} }

// Variants returns the number of variants of a fault at the images endpoint.
func (s Typed) Variants(f sim.Fault) int {
	switch {
	case s.Absent(f) != "":
		return 0
	case f == sim.FaultModerated:
		return 2 // before the model, and within a success
	case f == sim.FaultEmpty, f == sim.FaultLyingType:
		return map[sim.Fault]int{sim.FaultEmpty: 1, sim.FaultLyingType: 2}[f] // or no type at all
	}
	return s.Simulator.Variants(f)
}

// Absent returns why the images endpoint lacks a fault; empty if it has it.
func (s Typed) Absent(f sim.Fault) string {
	if f == sim.FaultPrivateURL {
		return "pictures come in the answer, never by link"
	}
	return s.Simulator.Absent(f)
}

// typedRequest is the body of the images endpoint.
type typedRequest struct {
	Model       string         `json:"model"`
	Prompt      string         `json:"prompt"`
	N           int            `json:"n"`
	Ratio       string         `json:"aspect_ratio"`
	Resolution  string         `json:"resolution"`
	Size        string         `json:"size"`
	Quality     string         `json:"quality"`
	Background  string         `json:"background"`
	Format      string         `json:"output_format"`
	Compression *int           `json:"output_compression"`
	Seed        *int64         `json:"seed"`
	References  []part         `json:"input_references"`
	User        string         `json:"user"`
	Provider    map[string]any `json:"provider"`
}

// typedModels lists the ids of models of the images endpoint; each makes one picture per call.
func typedModels() []string {
	return []string{"google/gemini-3.1-flash-lite-image", "bytedance-seed/seedream-5-5", "bytedance-seed/seedream-4.5"}
}

// parseTyped reads and checks the body.
func parseTyped(body []byte) (*typedRequest, *sim.Answer) {
	q := &typedRequest{}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(q); err != nil {
		return q, newProblem(http.StatusBadRequest, "Invalid input: "+strings.TrimPrefix(err.Error(), "json: "))
	}
	switch {
	case !slices.Contains(typedModels(), q.Model):
		return q, newProblem(http.StatusBadRequest, q.Model+" is not a valid model ID")
	case strings.TrimSpace(q.Prompt) == "":
		return q, newProblem(http.StatusBadRequest, "Invalid input: prompt is required")
	case q.N > 1:
		return q, newProblem(http.StatusBadRequest, fmt.Sprintf("Model %s does not support n greater than 1", q.Model))
	case !slices.Contains([]string{"", "512", "1K", "2K", "4K"}, q.Resolution):
		return q, newProblem(http.StatusBadRequest, fmt.Sprintf("Invalid resolution %q", q.Resolution))
	}
	for _, p := range q.References {
		if p.Type != "image_url" || !goodPicture(p.ImageURL.URL) {
			return q, newProblem(http.StatusBadRequest, "Invalid image data in input_references")
		}
	}
	return q, nil
}

// pixels returns the size of the picture; unknown ratios become square.
func (q *typedRequest) pixels() (w, h int) {
	p, known := ratios()[q.Ratio]
	if !known {
		p = ratios()[""]
	}
	factor := map[string]int{"2K": 2, "4K": 4}[q.Resolution]
	return p[0] * max(factor, 1), p[1] * max(factor, 1)
}

// typed answers one call of the images endpoint.
func (s *Simulator) typed(w http.ResponseWriter, c *sim.Call) {
	w.Header().Set("X-Generation-Id", fmt.Sprintf("gen-img-%d", c.Number))
	q, bad := parseTyped(c.Body)
	if bad != nil {
		bad.Write(w)
		return
	}
	s.paint(c, q).Write(w, c.Fault)
}

// paint builds the answer to a valid request, with the fault in its picture if there is one.
func (s *Simulator) paint(c *sim.Call, q *typedRequest) *sim.Body {
	seed := int64(c.Number)
	if q.Seed != nil {
		seed = *q.Seed
	}
	width, height := q.pixels()
	p, kind := s.Picture("jpeg", width, height, sim.Seed(q.Prompt, seed), c.Fault), "image/jpeg"
	if c.Fault.Fault == sim.FaultLyingType && c.Fault.Variant%2 == 1 {
		kind = "application/octet-stream"
	}
	body := &sim.Body{}
	body.Text(`{"created":0,"data":[`)
	n := 1
	if c.Fault.Fault == sim.FaultEmpty {
		n = 0
	} else {
		s.Record(p)
		body.Text(`{"b64_json":"`)
		body.Media(p, c.Fault)
		body.Text(`","media_type":%q}`, kind)
	}
	body.Text(`],"usage":{"prompt_tokens":5,"completion_tokens":%d,"total_tokens":%d,"cost":%s,"is_byok":false,"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":0,"image_tokens":%d},"cost_details":{"upstream_inference_cost":%s}}}`,
		1537*n, 5+1537*n, cost(n), 1120*n, cost(n))
	return body
}
