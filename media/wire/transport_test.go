package wire

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"atelier/media"
)

// answer is a response without its body.
type answer struct {
	StatusCode    int
	ContentLength int64
	Header        http.Header
}

// refused sends a request that must fail and returns the error.
func refused(t *testing.T, c *Codec, req *http.Request) error {
	t.Helper()
	res, err := c.Transport(http.DefaultTransport, Fields{}).RoundTrip(req)
	if err == nil {
		res.Body.Close()
		t.Fatal("the request was sent")
	}
	return err
}

// call sends a request through the codec's transport and reads the answer.
func call(t *testing.T, c *Codec, req *http.Request) (answer, string, *Collector) {
	t.Helper()
	ctx, col := WithCollector(req.Context())
	res, err := c.Transport(http.DefaultTransport, Fields{}).RoundTrip(req.WithContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{res.StatusCode, res.ContentLength, res.Header}, string(body), col
}

func request(t *testing.T, ctx context.Context, url, kind, body string) *http.Request { //nolint:revive // t first in tests
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", kind)
	return r
}

// serve starts a server that answers every request with one body.
func serve(t *testing.T, status int, header map[string]string, body []byte) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for k, v := range header {
			w.Header().Set(k, v)
		}
		w.WriteHeader(status)
		_, _ = w.Write(body)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestTransportLiftsAnswers(t *testing.T) {
	t.Parallel()
	c := newTestCodec(t, nil)
	img := png(100_000, 9, 9)
	url := serve(t, http.StatusOK, map[string]string{"Content-Type": "application/json; charset=utf-8", "ETag": `"x"`, "Digest": "y"}, []byte(`{"data":[{"b64_json":"`+std(img)+`"}]}`))
	res, body, col := call(t, c, request(t, scoped(t), url, "application/json", `{}`))
	var v struct {
		Data []struct {
			B64 string `json:"b64_json"`
		}
	}
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		t.Fatal(err)
	}
	b, ok := col.Take(v.Data[0].B64)
	if !ok || b.Digest != media.DigestOf(img) || len(col.All()) != 1 {
		t.Fatalf("collector has %v for %s", col.All(), clipped(body))
	}
	if marker, ok := col.Take(c.Marker(scope, b, VariantStd)); !ok || marker.Digest != b.Digest {
		t.Error("the marker is not taken")
	}
	if _, ok := col.Take(c.Token("run-2", b, VariantStd)); ok {
		t.Error("a token that was not lifted here is taken")
	}
	for _, h := range []string{"ETag", "Digest", "Content-Length"} {
		if res.Header.Get(h) != "" {
			t.Errorf("header %s remains", h)
		}
	}
	if res.ContentLength != -1 {
		t.Errorf("length %d", res.ContentLength)
	}
}

func TestTransportLowersRequests(t *testing.T) {
	t.Parallel()
	c := newTestCodec(t, nil)
	img := png(100_000, 9, 9)
	b := store(t, c, img)
	var got atomic.Pointer[[]byte]
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/moved" {
			http.Redirect(w, r, "/", http.StatusTemporaryRedirect)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil || r.ContentLength != int64(len(body)) || r.Header.Get("Accept-Encoding") != "identity" {
			t.Errorf("length %d of %d, encoding %q, %v", r.ContentLength, len(body), r.Header.Get("Accept-Encoding"), err)
		}
		got.Store(&body)
	}))
	t.Cleanup(s.Close)
	doc := `{"image":"data:image/png;base64,%s","n":1}`
	client := &http.Client{Transport: c.Transport(http.DefaultTransport, Fields{})}
	for _, path := range []string{"/", "/moved"} {
		req := request(t, scoped(t), s.URL+path, "application/json", fmt.Sprintf(doc, c.Token(scope, b, VariantStd)))
		req.Header.Set("Accept-Encoding", "gzip")
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if want := fmt.Sprintf(doc, std(img)); string(*got.Load()) != want {
			t.Fatalf("%s: the provider got %s", path, clipped(string(*got.Load())))
		}
		if req.Header.Get("Accept-Encoding") != "gzip" {
			t.Error("the caller's request was changed")
		}
	}
}

func TestTransportLowersMultipart(t *testing.T) {
	t.Parallel()
	c := newTestCodec(t, nil)
	one, two := png(70_000, 9, 9), png(71, 9, 9)
	b1, b2 := store(t, c, one), store(t, c, two)
	var parts atomic.Pointer[[][]byte]
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
		m := multipart.NewReader(r.Body, params["boundary"])
		var all [][]byte
		for {
			p, err := m.NextPart()
			if err != nil {
				break
			}
			data, err := io.ReadAll(p)
			if err != nil {
				t.Error(err)
			}
			all = append(all, data)
		}
		parts.Store(&all)
	}))
	t.Cleanup(s.Close)
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	prose := "the text " + c.Marker(scope, b1, VariantStd)
	for _, p := range []string{c.Marker(scope, b1, VariantStd), prose, c.Token(scope, b2, VariantStd)} {
		f, err := w.CreateFormFile("image", "a.png")
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(f, p)
	}
	w.Close()
	call(t, c, request(t, scoped(t), s.URL, w.FormDataContentType(), body.String()))
	all := *parts.Load()
	if len(all) != 3 || !bytes.Equal(all[0], one) || string(all[1]) != prose || !bytes.Equal(all[2], two) {
		t.Fatalf("%d parts", len(all))
	}
	forged := strings.Replace(body.String(), " image/png ", " image/gif ", 1)
	err := refused(t, c, request(t, scoped(t), s.URL, w.FormDataContentType(), forged))
	wantCode(t, "forged part", err, media.CodeForbidden)
}

func TestNothingIsSentForBadTokens(t *testing.T) {
	t.Parallel()
	c := newTestCodec(t, nil)
	b := store(t, c, png(1_000, 2, 2))
	sent := atomic.Int32{}
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { sent.Add(1) }))
	t.Cleanup(s.Close)
	gone := media.Blob{Digest: media.DigestOf([]byte("gone")), SizeBytes: 4}
	for name, k := range map[string]struct {
		tree string
		tok  string
		want media.Code
	}{
		"other run": {scope, c.Token("run-2", b, VariantStd), media.CodeForbidden},
		"no scope":  {"", c.Token(scope, b, VariantStd), media.CodeForbidden},
		"no blob":   {scope, c.Token(scope, gone, VariantStd), media.CodeNotFound},
	} {
		ctx := media.WithScope(t.Context(), media.Scope{Tree: k.tree})
		wantCode(t, name, refused(t, c, request(t, ctx, s.URL, "application/json", `{"image":"`+k.tok+`"}`)), k.want)
	}
	small := newTestCodec(t, func(c *Config) { c.MaxBodyBytes = 100 })
	err := refused(t, small, request(t, scoped(t), s.URL, "application/json", strings.Repeat(" ", 101)))
	wantCode(t, "long body", err, media.CodeTooLarge)
	if n := sent.Load(); n != 0 {
		t.Fatalf("%d requests were sent", n)
	}
}

func TestOtherBodiesPass(t *testing.T) {
	t.Parallel()
	c := newTestCodec(t, nil)
	page := `<img src="data:image/png;base64,` + std(png(9_000, 2, 2)) + `">`
	url := serve(t, http.StatusOK, map[string]string{"Content-Type": "text/html", "ETag": `"x"`}, []byte(page))
	res, body, col := call(t, c, request(t, scoped(t), url, "application/octet-stream", TokenPrefix))
	if body != page || len(col.All()) != 0 || res.Header.Get("ETag") != `"x"` {
		t.Fatalf("an HTML page changed: %s", clipped(body))
	}
}

func TestWholeMediaBodies(t *testing.T) {
	t.Parallel()
	c := newTestCodec(t, func(cfg *Config) { cfg.Limits.Pixels = 1_000_000 })
	img := png(100_000, 9, 9)
	url := serve(t, http.StatusOK, map[string]string{"Content-Type": "image/jpeg"}, img)
	_, body, col := call(t, c, request(t, scoped(t), url, "application/json", `{}`))
	b, ok := col.Take(body)
	if !ok || b.MIMEType != "image/png" || b.Digest != media.DigestOf(img) {
		t.Fatalf("lying type: %+v, body %s", b, clipped(body))
	}
	url = serve(t, http.StatusOK, map[string]string{"Content-Type": "audio/pcm;rate=24000"}, blobNoise(48_000))
	_, body, col = call(t, c, request(t, scoped(t), url, "application/json", `{}`))
	if b, ok = col.Take(body); !ok || b.MIMEType != "audio/wav" || b.DurationSeconds != 1 {
		t.Fatalf("raw sound: %+v", b)
	}
	url = serve(t, http.StatusOK, map[string]string{"Content-Type": "image/png"}, png(9_000, 30_000, 30_000))
	res, err := c.Transport(http.DefaultTransport, Fields{}).RoundTrip(request(t, scoped(t), url, "application/json", `{}`))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	_, err = io.ReadAll(res.Body)
	wantCode(t, "30,000 × 30,000 pixels", err, media.CodeTooLarge)
}

// TestTypesThatLie: the first bytes of an answer determine its type. A declared type that is generic or wrong hides
// neither media nor JSON, and leaves other content unchanged.
func TestTypesThatLie(t *testing.T) {
	t.Parallel()
	c := newTestCodec(t, nil)
	img := png(100_000, 9, 9)
	for _, kind := range []string{"application/octet-stream", "binary/octet-stream", "text/plain", "text/html; charset=utf-8", "application/json", "application/x-download", ""} {
		url := serve(t, http.StatusOK, map[string]string{"Content-Type": kind}, img)
		_, body, col := call(t, c, request(t, scoped(t), url, "application/json", `{}`))
		if b, ok := col.Take(body); !ok || b.MIMEType != "image/png" || b.Digest != media.DigestOf(img) {
			t.Errorf("a picture as %q: %+v, body %s", kind, b, clipped(body))
		}
		url = serve(t, http.StatusOK, map[string]string{"Content-Type": kind}, []byte(" \n{\"b64_json\":\""+std(img)+"\"}"))
		_, body, col = call(t, c, request(t, scoped(t), url, "application/json", `{}`))
		if len(col.All()) != 1 || col.All()[0].Blob.Digest != media.DigestOf(img) || len(body) > 1000 {
			t.Errorf("JSON as %q: %d items, body %s", kind, len(col.All()), clipped(body))
		}
	}
	raw := string(blobNoise(9_000))
	url := serve(t, http.StatusOK, map[string]string{"Content-Type": "application/octet-stream"}, []byte("\x00"+raw))
	if _, body, col := call(t, c, request(t, scoped(t), url, "application/json", `{}`)); body != "\x00"+raw || len(col.All()) != 0 {
		t.Errorf("other bytes: %d items, body %s", len(col.All()), clipped(body))
	}
}

func TestCompressedAnswers(t *testing.T) {
	t.Parallel()
	c := newTestCodec(t, nil)
	img := png(100_000, 9, 9)
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	_, _ = io.WriteString(w, `{"x":"`+std(img)+`"}`)
	w.Close()
	url := serve(t, http.StatusOK, map[string]string{"Content-Type": "application/json", "Content-Encoding": "gzip"}, z.Bytes())
	res, body, col := call(t, c, request(t, scoped(t), url, "application/json", `{}`))
	if len(col.All()) != 1 || !strings.HasPrefix(body, `{"x":"`+TokenPrefix) || res.Header.Get("Content-Encoding") != "" {
		t.Fatalf("unrequested gzip: %s", clipped(body))
	}
	url = serve(t, http.StatusOK, map[string]string{"Content-Type": "application/json", "Content-Encoding": "br"}, z.Bytes())
	err := refused(t, c, request(t, scoped(t), url, "application/json", `{}`))
	wantCode(t, "brotli", err, media.CodeBadResponse)
}

func TestErrorBodiesComeAsTheyAre(t *testing.T) {
	t.Parallel()
	c := newTestCodec(t, nil)
	img := std(png(9_000, 2, 2))
	for kind, want := range map[string]string{
		"application/json": `{"error":"bad image ` + img[:300] + `"}`, "text/plain": "bad " + img, "text/html": "<p>bad</p>",
		"image/png": string(png(900, 2, 2)), "application/zip": string(png(900, 2, 2)),
	} {
		url := serve(t, http.StatusUnprocessableEntity, map[string]string{"Content-Type": kind}, []byte(want))
		res, body, col := call(t, c, request(t, scoped(t), url, "application/json", `{}`))
		if body != want || res.StatusCode != http.StatusUnprocessableEntity || len(col.All()) != 0 {
			t.Errorf("%s: %s", kind, clipped(body))
		}
	}
	if n := count(t, c); n != 0 {
		t.Fatalf("%d blobs were stored", n)
	}
}

// TestCloseDuringTheFirstRead: a body can be closed while its first bytes are examined. The race detector checks it.
func TestCloseDuringTheFirstRead(t *testing.T) {
	t.Parallel()
	c := newTestCodec(t, nil)
	url := serve(t, http.StatusOK, map[string]string{"Content-Type": "application/json"}, []byte(`{"x":"`+std(png(9_000, 2, 2))+`"}`))
	for range 20 {
		res, err := c.Transport(http.DefaultTransport, Fields{}).RoundTrip(request(t, scoped(t), url, "application/json", `{}`)) //nolint:bodyclose // it is closed below
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			_, _ = io.Copy(io.Discard, res.Body) // it may end early
			close(done)
		}()
		if err := res.Body.Close(); err != nil {
			t.Error(err)
		}
		<-done
	}
}

func TestAnswerCutInsideMedia(t *testing.T) {
	t.Parallel()
	c := newTestCodec(t, nil)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", "100000")
		_, _ = io.WriteString(w, `{"x":"`+std(png(30_000, 2, 2)))
	}))
	t.Cleanup(s.Close)
	res, err := c.Transport(http.DefaultTransport, Fields{}).RoundTrip(request(t, scoped(t), s.URL, "application/json", `{}`))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if _, err := io.ReadAll(res.Body); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatalf("got %v", err)
	}
	if n := count(t, c); n != 0 {
		t.Fatalf("%d blobs were stored", n)
	}
}

// TestHTTP2 covers servers that answer early: HTTP/2 then closes the request body while it is read.
func TestHTTP2(t *testing.T) {
	t.Parallel()
	c := newTestCodec(t, nil)
	b := store(t, c, png(3_000_000, 2, 2))
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/whole" {
			n, err := io.Copy(io.Discard, r.Body)
			if err != nil || n != r.ContentLength {
				t.Errorf("read %d of %d, %v", n, r.ContentLength, err)
			}
		}
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	tr := c.Transport(s.Client().Transport, Fields{})
	for i := range 20 {
		path := "/early"
		if i%5 == 0 {
			path = "/whole"
		}
		res, err := tr.RoundTrip(request(t, scoped(t), s.URL+path, "application/json", `{"i":"`+c.Token(scope, b, VariantStd)+`"}`))
		if err != nil {
			t.Fatal(err)
		}
		if res.ProtoMajor != 2 {
			t.Fatal("no HTTP/2")
		}
		res.Body.Close()
	}
}

func TestLiftTransportLeavesRequestsAlone(t *testing.T) {
	t.Parallel()
	c := newTestCodec(t, nil)
	var got atomic.Pointer[[]byte]
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got.Store(&body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `["`+std(png(900, 2, 2))+`"]`)
	}))
	t.Cleanup(s.Close)
	ctx, col := WithCollector(scoped(t))
	doc := `{"i":"` + TokenPrefix + `"}`
	res, err := c.LiftTransport(http.DefaultTransport, Fields{}).RoundTrip(request(t, ctx, s.URL, "application/json", doc))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if _, err := io.ReadAll(res.Body); err != nil || string(*got.Load()) != doc || len(col.All()) != 1 {
		t.Fatalf("%v, sent %s, lifted %v", err, *got.Load(), col.All())
	}
}
