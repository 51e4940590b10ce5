package xaisim

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"atelier/internal/sim"
)

// request is the body of a generation or an edit. Settings that the endpoints do not support
// are refused with their messages.
type request struct {
	Model      string    `json:"model"`
	Prompt     string    `json:"prompt"`
	N          *int      `json:"n"`
	Ratio      string    `json:"aspect_ratio"`
	Resolution string    `json:"resolution"`
	Quality    string    `json:"quality"`
	Format     string    `json:"response_format"`
	User       string    `json:"user"`
	Image      *picture  `json:"image"`
	Images     []picture `json:"images"`
}

type picture struct {
	Type string `json:"type"`
	URL  string `json:"url"`
}

// models returns the ids with the day of each shutdown; empty if none is set.
func models() map[string]string {
	return map[string]string{
		"grok-imagine-image-2.0": "", "grok-imagine-image": "",
		"grok-imagine-image-quality": "2026-11-02", "grok-imagine-image-pro": "2026-11-05",
	}
}

// ratios are the values of aspect_ratio.
var ratios = strings.Fields("1:1 3:4 4:3 9:16 16:9 2:3 3:2 9:19.5 19.5:9 9:20 20:9 1:2 2:1 auto")

// parse reads and checks a body.
func (s *Simulator) parse(body []byte, edit bool) (*request, *sim.Answer) {
	q := &request{}
	var fields map[string]json.RawMessage
	if json.Unmarshal(body, &fields) != nil || json.Unmarshal(body, q) != nil {
		return q, newProblem(http.StatusUnprocessableEntity, "invalid-argument", "Failed to deserialize the JSON body into the target type")
	}
	for _, name := range []string{"size", "style", "seed", "mask", "negative_prompt"} {
		if fields[name] != nil {
			return q, newProblem(http.StatusBadRequest, "invalid-argument", "Argument not supported: "+name)
		}
	}
	end, known := models()[q.Model]
	switch {
	case !known || end != "" && s.Now().UTC().Format(time.DateOnly) >= end:
		return q, noModel(q.Model)
	case strings.TrimSpace(q.Prompt) == "":
		return q, newProblem(http.StatusBadRequest, "invalid-argument", "Prompt must not be empty.")
	case q.N != nil && (*q.N < 1 || *q.N > 10):
		return q, newProblem(http.StatusBadRequest, "invalid-argument", "Number of images must be between 1 and 10.")
	case q.Ratio != "" && !slices.Contains(ratios, q.Ratio):
		return q, newProblem(http.StatusUnprocessableEntity, "invalid-argument", fmt.Sprintf("unknown variant `%s`, expected one of %s", q.Ratio, strings.Join(ratios, ", ")))
	case !slices.Contains([]string{"", "1k", "1.5k", "2k"}, q.Resolution):
		return q, newProblem(http.StatusUnprocessableEntity, "invalid-argument", fmt.Sprintf("unknown variant `%s`, expected `1k`, `1.5k` or `2k`", q.Resolution))
	case !slices.Contains([]string{"", "low", "medium", "high"}, q.Quality):
		return q, newProblem(http.StatusUnprocessableEntity, "invalid-argument", fmt.Sprintf("unknown variant `%s`, expected one of `low`, `medium`, `high`", q.Quality))
	}
	if q.N == nil {
		one := 1
		q.N = &one
	}
	return q, q.badPictures(edit)
}

// badPictures returns the error of the pictures of an edit.
func (q *request) badPictures(edit bool) *sim.Answer {
	all := q.pictures()
	switch {
	case !edit && len(all) > 0:
		return newProblem(http.StatusBadRequest, "invalid-argument", "Argument not supported: image")
	case edit && (len(all) == 0 || len(all) > 5 || q.Image != nil && len(q.Images) > 0):
		return newProblem(http.StatusBadRequest, "invalid-argument", "Provide one image, or up to 5 images.")
	}
	for _, p := range all {
		head, data, isData := strings.Cut(p.URL, ";base64,")
		raw, err := base64.StdEncoding.DecodeString(data)
		kind := strings.TrimPrefix(head, "data:")
		if p.Type != "image_url" || !isData && !strings.HasPrefix(p.URL, "https://") ||
			isData && (err != nil || http.DetectContentType(raw) != kind || !slices.Contains([]string{"image/png", "image/jpeg"}, kind) || len(raw) > 20<<20) {
			return newProblem(http.StatusBadRequest, "invalid-argument", "Invalid image URL or image data.")
		}
	}
	return nil
}

func (q *request) pictures() []picture {
	if q.Image != nil {
		return append([]picture{*q.Image}, q.Images...)
	}
	return q.Images
}

// pixels returns the size of the picture.
func (q *request) pixels() (w, h int) {
	side := map[string]float64{"1.5k": 1536, "2k": 2048}[q.Resolution]
	if side == 0 {
		side = 1024
	}
	a, b, _ := strings.Cut(q.Ratio, ":")
	x, xerr := strconv.ParseFloat(a, 64)
	y, yerr := strconv.ParseFloat(b, 64)
	if xerr != nil || yerr != nil {
		x, y = 1, 1
	}
	even := func(v float64) int { return int(math.Floor(v/16+0.5)) * 16 }
	return even(side * math.Sqrt(x/y)), even(side * math.Sqrt(y/x))
}

// ticks returns the cost of n pictures; 10,000,000,000 ticks are one dollar.
func (q *request) ticks(n int) int64 {
	const cent = 100_000_000
	each := int64(2)
	if strings.HasSuffix(q.Model, "2.0") {
		each = 6
		if q.Quality == "low" {
			each = 4
		}
		if q.Resolution == "2k" {
			each += 2
		}
	}
	return each * cent * int64(n)
}
