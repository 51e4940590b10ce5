package openrouter_test

import (
	"io"
	"net/http"
)

// requestRecorder keeps the path and body of the last request.
type requestRecorder struct {
	next       http.RoundTripper
	path, body string
}

// RoundTrip implements http.RoundTripper.
func (s *requestRecorder) RoundTrip(r *http.Request) (*http.Response, error) {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	s.path, s.body = r.URL.Path, string(b)
	return s.next.RoundTrip(r)
}
