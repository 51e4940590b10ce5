package sim

import (
	"bytes"
	"hash/fnv"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"atelier/media"
)

// Journal queues faults and captures calls. It is safe for concurrent use; the zero value is empty and ready to use.
type Journal struct {
	mu       sync.Mutex // guards the fields below
	queue    []Injection
	captured []Captured
	sent     []Picture
	calls    int

	credential string // the header with the credential
}

// Inject queues faults.
func (j *Journal) Inject(faults ...Injection) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.queue = append(j.queue, faults...)
}

// ClearFaults discards the remaining faults.
func (j *Journal) ClearFaults() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.queue = nil
}

// Next removes and returns the oldest fault; the zero Injection if there is none.
func (j *Journal) Next() Injection {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.queue) == 0 {
		return Injection{}
	}
	next := j.queue[0]
	j.queue = j.queue[1:]
	return next
}

// Capture records a call, with its credentials replaced by "[key]", and returns its number, counting from 1.
func (j *Journal) Capture(r *http.Request, body []byte) int {
	h := r.Header.Clone()
	if h.Get(j.credential) != "" {
		h.Set(j.credential, "[key]")
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.captured = append(j.captured, Captured{Method: r.Method, Path: r.URL.Path, Header: h, Body: bytes.Clone(body)})
	j.calls++
	return j.calls
}

// Captured returns the calls.
func (j *Journal) Captured() []Captured {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.captured)
}

// Record records that a picture is sent, for tests that compare bytes.
func (j *Journal) Record(p Picture) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.sent = append(j.sent, p)
}

// Sent returns the digests of the pictures that were sent, in order, without interim and preview
// pictures. It hashes them only when called, so that answers are not slowed down.
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

// Seed hashes the inputs that determine a picture: prompt, seed or call, slot.
func Seed(prompt string, numbers ...int64) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(prompt))
	for _, n := range numbers {
		_, _ = h.Write([]byte(strconv.FormatInt(n, 10) + ","))
	}
	return h.Sum64()
}
