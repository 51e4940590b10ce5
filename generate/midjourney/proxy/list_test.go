package proxy_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"atelier/media/wire/wiretest"

	"github.com/google/go-cmp/cmp"

	"atelier/generate/midjourney/proxy"
	"atelier/media"
)

// TestList: proxies disagree about their lists, and only a list is believed.
func TestList(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		body   string
		want   []proxy.Listed
		code   media.Code
	}{
		"jobs": {200, `[{"id":"17","status":"SUCCESS","state":"k-1","imageUrl":"https://x/y.png"},{"id":18,"status":"MODAL","state":null}]`, []proxy.Listed{
			{ID: "17", Status: "SUCCESS", State: "k-1"}, {ID: "18", Status: "MODAL"},
		}, ""},
		"none":         {200, `[]`, []proxy.Listed{}, ""},
		"null":         {200, `null`, nil, ""},
		"odd shapes":   {200, `[{"id":{},"state":["k"],"status":7}]`, []proxy.Listed{{Status: "7"}}, ""},
		"no such path": {404, `{"code":0}`, nil, media.CodeNotFound},
		"other verb":   {405, ``, nil, media.CodeNotFound},
		"page":         {200, `<html>`, nil, media.CodeUnavailable},
		"envelope":     {200, `{"code":1,"result":[]}`, nil, media.CodeUnavailable},
		"failure":      {500, `[]`, nil, media.CodeUnavailable},
		"secret":       {401, ``, nil, media.CodeUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodGet || r.URL.Path != "/mj/task/list" || r.Header.Get("Mj-Api-Secret") != "hush" {
					t.Errorf("%s %s with %v", r.Method, r.URL.Path, r.Header)
				}
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body) // a client that is gone needs no answer
			}))
			t.Cleanup(srv.Close)
			client, err := proxy.New(proxy.Config{URL: srv.URL, Secret: "hush", Codec: wiretest.NewCodec(t)})
			if err != nil {
				t.Fatal(err)
			}
			got, err := client.List(t.Context())
			if diff := cmp.Diff(c.want, got); diff != "" || media.CodeOf(err) != c.code {
				t.Errorf("%v, list (-want +got):\n%s", err, diff)
			}
		})
	}
	client, err := proxy.New(proxy.Config{Codec: wiretest.NewCodec(t)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.List(t.Context()); media.CodeOf(err) != media.CodeMissingKey {
		t.Errorf("List without an address: %v", err)
	}
}
