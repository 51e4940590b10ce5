//go:build unix

package relay_test

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"atelier/journal"
)

// BenchmarkCarried fetches an answer of 2 MB, as one with a picture in it is: without a relay,
// through one, and once more out of its folder.
func BenchmarkCarried(b *testing.B) {
	answer := []byte(`{"data":[{"b64_json":"` + strings.Repeat("iVBORw0KGgo=", 2_000_000/12) + `"}]}`)
	p := serve(b, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answer)
	})
	r := open(b, b.TempDir())
	base := &http.Transport{}
	b.Cleanup(base.CloseIdleConnections)
	fetch := func(b *testing.B, rt http.RoundTripper, ctx context.Context) {
		b.Helper()
		res, err := rt.RoundTrip(post(b, ctx, p.URL, `{"prompt":"a cat"}`))
		if err != nil {
			b.Fatal(err)
		}
		if n, err := io.Copy(io.Discard, res.Body); n != int64(len(answer)) || err != nil {
			b.Fatal(n, err)
		}
		_ = res.Body.Close()
	}
	number := 0
	carry := func(b *testing.B) string {
		b.Helper()
		number++
		id := "call-" + strconv.Itoa(number)
		fetch(b, r.Transport(base), carried(b, r, id))
		return id
	}
	measure := func(name string, once func(b *testing.B)) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(answer)))
			b.ReportAllocs()
			for b.Loop() {
				once(b)
			}
		})
	}
	measure("direct", func(b *testing.B) { b.Helper(); fetch(b, base, b.Context()) })
	measure("carried", func(b *testing.B) { b.Helper(); r.Forget(carry(b)) })
	id := carry(b)
	measure("recalled", func(b *testing.B) {
		b.Helper()
		fetch(b, r.Transport(base), journal.WithCarried(b.Context(), &journal.Carried{ID: id, Recalled: true}))
	})
}
