package generatetest

import (
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"

	"atelier/generate/driver"
	"atelier/media"
	"atelier/media/wire"
)

// Answer is a round tripper that returns the same answer to every call, for fuzz tests of
// drivers.
type Answer struct {
	Status int
	// Type is the content type; empty means JSON.
	Type string
	Body string
}

// RoundTrip returns the answer.
func (a Answer) RoundTrip(r *http.Request) (*http.Response, error) {
	kind := a.Type
	if kind == "" {
		kind = "application/json"
	}
	return &http.Response{
		StatusCode: a.Status, Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(strings.NewReader(a.Body)), Request: r,
	}, nil
}

// Tape is a round tripper that calls a simulator and records its answers: the seeds of a
// fuzz test. It is safe for concurrent use.
type Tape struct {
	Simulator http.Handler

	mu     sync.Mutex // guards bodies
	bodies []string
}

// RoundTrip returns the simulator's answer.
func (p *Tape) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	p.serve(w, r)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bodies = append(p.bodies, w.Body.String())
	res := w.Result()
	res.Request = r
	return res, nil
}

// serve calls the simulator; some answers are cut off in the middle.
func (p *Tape) serve(w http.ResponseWriter, r *http.Request) {
	defer func() {
		if reason := recover(); reason != nil && reason != http.ErrAbortHandler { //nolint:errorlint // net/http compares it in the same way.
			panic(reason)
		}
	}()
	p.Simulator.ServeHTTP(w, r)
}

// pictures matches the pictures of an answer.
var pictures = regexp.MustCompile(`[A-Za-z0-9+/]{300,}={0,2}`)

// Bodies returns the recorded answers, with each picture replaced by one of one pixel: fuzz
// tests make no progress from large texts.
func (p *Tape) Bodies() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	dot := base64.StdEncoding.EncodeToString(PNG(1, 1, 0))
	var all []string
	for _, body := range p.bodies {
		all = append(all, pictures.ReplaceAllLiteralString(body, dot))
	}
	return all
}

// Sane checks that the update of a driver keeps the contract, whatever the answer was: every
// item is exactly one thing, and no text contains media or the key.
func Sane(t *testing.T, u driver.Update, err error, key string) {
	t.Helper()
	texts := []string{}
	if err != nil {
		texts = append(texts, err.Error())
		if media.Retryable(err) && errors.Is(err, driver.ErrUnsettled) {
			t.Errorf("to be repeated though it may have been billed: %v", err)
		}
	}
	for i, it := range u.Items {
		set := 0
		for _, is := range []bool{it.Blob != nil, it.URL != "", it.Text != "", it.Err != nil} {
			if is {
				set++
			}
		}
		if set != 1 {
			t.Errorf("item %d is %d things: %+v", i, set, it)
		}
		if it.Err != nil {
			texts = append(texts, it.Err.Message)
		}
		if it.Safety != nil {
			texts = append(texts, it.Safety.Categories...)
		}
		texts = append(texts, it.RevisedPrompt, it.Text)
	}
	for _, text := range texts {
		if wire.NameMedia(text) != text || key != "" && strings.Contains(text, key) {
			t.Errorf("media or the key is quoted: %q", text)
		}
	}
}
