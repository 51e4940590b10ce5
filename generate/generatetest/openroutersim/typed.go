package openroutersim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"atelier/generate/generatetest"
	"atelier/generate/generatetest/simulate"
)

// Typed is a [Simulator] seen by the suite as a provider of the images endpoint.
type Typed struct{ *Simulator }

var _ generatetest.Simulator = Typed{}

// NewTyped makes a simulator for tests of the images endpoint.
func NewTyped(c Config) Typed { return Typed{New(c)} }

// Variants tells how many shapes a fault has for the images endpoint.
func (s Typed) Variants(f generatetest.Fault) int {
	switch {
	case s.Absent(f) != "":
		return 0
	case f == generatetest.FaultModerated:
		return 2 // before the model, and inside of a success
	case f == generatetest.FaultEmpty, f == generatetest.FaultLyingType:
		return map[generatetest.Fault]int{generatetest.FaultEmpty: 1, generatetest.FaultLyingType: 2}[f] // or no type at all
	}
	return s.Simulator.Variants(f)
}

// Absent says which faults the images endpoint has none of.
func (s Typed) Absent(f generatetest.Fault) string {
	if f == generatetest.FaultPrivateURL {
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

// typedModels lists the ids of models of the images endpoint; all give one picture a call.
func typedModels() []string {
	return []string{"google/gemini-3.1-flash-lite-image", "bytedance-seed/seedream-5-5", "bytedance-seed/seedream-4.5"}
}

// parseTyped reads and checks the body.
func parseTyped(body []byte) (*typedRequest, *problem) {
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

// pixels is the size of the answer; ratios that the maker does not have become square.
func (q *typedRequest) pixels() (w, h int) {
	p, known := ratios()[q.Ratio]
	if !known {
		p = ratios()[""]
	}
	factor := map[string]int{"2K": 2, "4K": 4}[q.Resolution]
	return p[0] * max(factor, 1), p[1] * max(factor, 1)
}

// typed takes one call of the images endpoint through key, faults and checks.
func (s *Simulator) typed(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	call := s.journal.Capture(r, body)
	w.Header().Set("X-Generation-Id", fmt.Sprintf("gen-img-%d", call))
	if !s.authorized(w, r) {
		return
	}
	fault := s.journal.Next()
	q, bad := parseTyped(body)
	switch {
	case fault.Fault == generatetest.FaultModerated && fault.Variant%2 == 1:
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"error":{"code":"403","message":"The output was flagged by the provider","metadata":{"reasons":["sexual"],"provider_name":"Simulated"}}}`)
		return
	case fault.Fault == generatetest.FaultEmpty:
	case s.answerFault(w, r, &request{Model: q.Model}, fault):
		return
	}
	if bad != nil {
		bad.write(w)
		return
	}
	answer := s.paint(q, call, fault)
	if fault.Fault == generatetest.FaultHalfBody {
		answer.WriteHalf(w)
	}
	answer.Write(w)
}

// paint writes the answer to a good request, with the fault in its picture if there is one.
func (s *Simulator) paint(q *typedRequest, call int, fault generatetest.Injection) *simulate.Body {
	seed := int64(call)
	if q.Seed != nil {
		seed = *q.Seed
	}
	width, height := q.pixels()
	one := simulate.Seed(q.Prompt, seed)
	p, kind := s.painter.Paint("jpeg", width, height, one), `,"media_type":"image/jpeg"`
	switch fault.Fault {
	case generatetest.FaultTinyImage:
		p = simulate.Tiny(one)
	case generatetest.FaultHugeHeader:
		p = simulate.HugeHeader()
	case generatetest.FaultNotMedia:
		p = simulate.NotMedia("image/jpeg")
	case generatetest.FaultLyingType:
		p = s.painter.Paint("png", width, height, one)
		if fault.Variant%2 == 1 {
			kind = `,"media_type":"application/octet-stream"`
		}
	default:
	}
	body := &simulate.Body{}
	body.Text(`{"created":0,"data":[`)
	n := 1
	switch {
	case fault.Fault == generatetest.FaultEmpty:
		n = 0
	case fault.Fault == generatetest.FaultNotMedia && fault.Variant%2 == 1:
		body.Text(`{"b64_json":%q%s}`, p.Bytes(), kind)
	default:
		s.journal.Record(p)
		body.Text(`{"b64_json":"`)
		body.Picture(p)
		body.Text(`"%s}`, kind)
	}
	body.Text(`],"usage":{"prompt_tokens":5,"completion_tokens":%d,"total_tokens":%d,"cost":%s,"is_byok":false,"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":0,"image_tokens":%d},"cost_details":{"upstream_inference_cost":%s}}}`,
		1537*n, 5+1537*n, cost(n), 1120*n, cost(n))
	return body
}
