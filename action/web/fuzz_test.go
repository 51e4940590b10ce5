package web

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"atelier/media"
)

// fixedTransport is a transport that always returns the same answer.
type fixedTransport struct {
	status int
	body   string
}

func (s fixedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: s.status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(s.body)), Request: r}, nil
}

// FuzzSearch: no answer of a search provider makes its reader panic, or return an error that is long or has no code.
func FuzzSearch(f *testing.F) {
	for _, body := range []string{
		`{"results":[{"title":"a","url":"https://a.example","content":"<b>x","publishedDate":null}],"unresponsive_engines":[["a","b"],[]]}`,
		`{"web":{"results":[{"title":"a","url":"https://a.example","description":"x"}]}}`, `{"detail":{"error":"no"}}`, `{"error":{"detail":"no"}}`, "null", "[]", "<html>",
	} {
		f.Add(uint16(200), body)
		f.Add(uint16(401), body)
	}
	f.Fuzz(func(t *testing.T, status uint16, body string) {
		s, err1 := NewSearXNG(Provider{BaseURL: "http://searx.example"})
		b, err2 := NewBrave(Provider{Key: key})
		v, err3 := NewTavily(Provider{Key: key})
		if err1 != nil || err2 != nil || err3 != nil {
			t.Fatal(err1, err2, err3)
		}
		for _, by := range []*Engine{s, b, v} {
			by.http.Transport = fixedTransport{200 + int(status)%400, body}
			_, err := by.Search(t.Context(), Query{Text: "x", Count: 3})
			if err != nil && (media.CodeOf(err) == media.CodeInternal || len(err.Error()) > 1500) {
				t.Errorf("%s: %v", by.Name(), err)
			}
		}
	})
}
