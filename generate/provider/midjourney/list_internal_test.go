package midjourney

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"atelier/media/wire/wiretest"

	"github.com/google/go-cmp/cmp"

	"atelier/generate/driver"
	"atelier/media"
)

// TestList: proxies disagree about their lists, and only a list is trusted.
func TestList(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		body   string
		want   []driver.ListedTask
		code   media.Code
	}{
		"jobs": {200, `[{"id":"17","status":"SUCCESS","state":"k-1","imageUrl":"https://x/y.png"},{"id":18,"status":"MODAL","state":null}]`, []driver.ListedTask{
			{Task: driver.Handle{ID: "17"}, Key: "k-1"}, {Task: driver.Handle{ID: "18"}, Waits: true},
		}, ""},
		"none":         {200, `[]`, nil, ""},
		"null":         {200, `null`, nil, ""},
		"odd shapes":   {200, `[{"id":{},"state":["k"],"status":7}]`, []driver.ListedTask{{}}, ""},
		"no such path": {404, `{"code":0}`, nil, media.CodeNotFound},
		"other verb":   {405, ``, nil, media.CodeNotFound},
		"page":         {200, `<html>`, nil, media.CodeUnavailable},
		"envelope":     {200, `{"code":1,"result":[]}`, nil, media.CodeUnavailable},
		"failure":      {500, `[]`, nil, media.CodeUnavailable},
		"secret":       {401, ``, nil, media.CodeUnauthorized},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodGet || r.URL.Path != "/mj/task/list" || r.Header.Get("Mj-Api-Secret") != "hush" {
					t.Errorf("%s %s with %v", r.Method, r.URL.Path, r.Header)
				}
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body) // the client may have disconnected
			}))
			t.Cleanup(srv.Close)
			d, err := New(Config{BaseURL: srv.URL, APIKey: "hush", Codec: wiretest.NewCodec(t)})
			if err != nil {
				t.Fatal(err)
			}
			got, err := d.List(t.Context(), "")
			if diff := cmp.Diff(c.want, got.Tasks); diff != "" || media.CodeOf(err) != c.code {
				t.Errorf("%v, list (-want +got):\n%s", err, diff)
			}
		})
	}
	d, err := New(Config{Codec: wiretest.NewCodec(t)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.List(t.Context(), ""); media.CodeOf(err) != media.CodeMissingKey {
		t.Errorf("List without an address: %v", err)
	}
}
