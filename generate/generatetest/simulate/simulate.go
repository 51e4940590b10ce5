// Package simulate is what the simulators of providers share: the queue of faults, the
// journal of captured calls, and pictures that cost next to nothing to make.
//
// It has no errors of its own. It is a test package: it imports the standard
// library and generatetest, and nothing that ships imports it.
package simulate

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"atelier/generate/generatetest"
	"atelier/media"
)

// Journal queues faults and keeps calls. It is safe for concurrent use; the zero
// value is empty and ready.
type Journal struct {
	mu       sync.Mutex // guards all below
	queue    []generatetest.Injection
	captured []generatetest.Captured
	sent     []Picture
	calls    int
}

// Inject queues faults.
func (j *Journal) Inject(faults ...generatetest.Injection) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.queue = append(j.queue, faults...)
}

// Next takes the oldest fault; the zero Injection if there is none.
func (j *Journal) Next() generatetest.Injection {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.queue) == 0 {
		return generatetest.Injection{}
	}
	next := j.queue[0]
	j.queue = j.queue[1:]
	return next
}

// Capture notes a call, its credentials replaced by "[key]", and gives its number
// from 1.
func (j *Journal) Capture(r *http.Request, body []byte) int {
	h := r.Header.Clone()
	for _, name := range []string{"Authorization", "X-Goog-Api-Key", "Mj-Api-Secret"} {
		if h.Get(name) != "" {
			h.Set(name, "[key]")
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.captured = append(j.captured, generatetest.Captured{Method: r.Method, Path: r.URL.Path, Header: h, Body: bytes.Clone(body)})
	j.calls++
	return j.calls
}

// Captured lists the calls.
func (j *Journal) Captured() []generatetest.Captured {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.captured)
}

// Record notes that the picture goes out, for tests that compare bytes.
func (j *Journal) Record(p Picture) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.sent = append(j.sent, p)
}

// Sent lists the digests of the pictures that went out, in order, interim and
// preview pictures left out. It hashes them now, so that answers are not slowed down.
func (j *Journal) Sent() []media.Digest {
	j.mu.Lock()
	pictures := slices.Clone(j.sent)
	j.mu.Unlock()
	digests := make([]media.Digest, 0, len(pictures))
	for _, p := range pictures {
		digests = append(digests, p.Digest())
	}
	return digests
}

// Seed mixes what a picture should follow from: prompt, seed or call, slot.
func Seed(prompt string, numbers ...int64) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(prompt))
	for _, n := range numbers {
		_, _ = h.Write([]byte(strconv.FormatInt(n, 10) + ","))
	}
	return h.Sum64()
}

// Wait lets the delay pass; it reports false if the client left first. With a
// delay of 0 it waits for the client to leave.
func Wait(r *http.Request, delay time.Duration) bool {
	if delay <= 0 {
		<-r.Context().Done()
		return false
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
		return false
	}
}

// Body is an answer in pieces, so that pictures are not copied into it. The zero
// value is empty and ready.
type Body struct {
	pieces [][]byte
	size   int
	middle int
}

// Text appends text.
func (b *Body) Text(format string, args ...any) {
	piece := fmt.Appendf(nil, format, args...)
	b.pieces, b.size = append(b.pieces, piece), b.size+len(piece)
}

// Picture appends a picture in base64.
func (b *Body) Picture(p Picture) {
	pieces := p.Base64()
	length := len(pieces[0]) + len(pieces[1])
	b.middle = b.size + length/2
	b.pieces, b.size = append(b.pieces, pieces[:]...), b.size+length
}

// String gives the whole answer.
func (b *Body) String() string { return string(bytes.Join(b.pieces, nil)) }

// Write sends the answer as JSON.
func (b *Body) Write(w http.ResponseWriter) {
	b.head(w)
	for _, piece := range b.pieces {
		if _, err := w.Write(piece); err != nil {
			return
		}
	}
}

// WriteHalf sends the head of the whole answer and its body up to the middle of the
// last picture, then breaks the connection.
func (b *Body) WriteHalf(w http.ResponseWriter) {
	b.head(w)
	_, _ = io.WriteString(w, b.String()[:b.middle])
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

func (b *Body) head(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.Header().Set("Content-Length", strconv.Itoa(b.size))
}

// Page is the HTML that proxies answer.
const Page = "<!DOCTYPE html>\n<html><head><title>Please wait</title></head><body><h1>Checking your connection</h1></body></html>\n"
