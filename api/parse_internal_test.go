package api

import (
	"bytes"
	"context"
	"io"
	"mime"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"atelier/media"
)

// FuzzRange: for any Range header, the answer is a part of the bytes or a refusal.
func FuzzRange(f *testing.F) {
	for _, s := range []string{"bytes=0-0", "bytes=-5", "bytes=5-", "bytes=0-3,7-9", "bytes=9-2", "bytes=-0", "bytes=18446744073709551616-", "lines=1", "bytes=0-0,0-0,0-0"} {
		f.Add(s)
	}
	whole := []byte("0123456789abcdef")
	s := New(Config{Media: fixedService{b: whole}})
	f.Fuzz(func(t *testing.T, header string) {
		r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1/media/x", nil)
		r.Header["Range"] = []string{header}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		switch {
		case w.Code == http.StatusOK && !bytes.Equal(w.Body.Bytes(), whole),
			w.Code == http.StatusPartialContent && !strings.HasPrefix(w.Header().Get("Content-Type"), "multipart/") && !bytes.Contains(whole, w.Body.Bytes()),
			w.Code == http.StatusRequestedRangeNotSatisfiable && w.Header().Get("Content-Type") != problemType:
			t.Errorf("%q: %d %q", header, w.Code, w.Body)
		case w.Code != http.StatusOK && w.Code != http.StatusPartialContent && w.Code != http.StatusRequestedRangeNotSatisfiable:
			t.Errorf("%q: %d", header, w.Code)
		}
	})
}

// fixedService is a media service with one item.
type fixedService struct {
	MediaService
	b []byte
}

func (f fixedService) OpenMedia(context.Context, string, int) (Content, error) {
	return Content{Digest: media.DigestOf(f.b), Size: int64(len(f.b)), MIMEType: "text/plain", Open: func(_ context.Context, offset, _ int64) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(f.b[offset:])), nil
	}}, nil
}

// FuzzCursor: a cursor is accepted only if it was issued for the same query.
func FuzzCursor(f *testing.F) {
	q := RunQuery{Status: "failed"}
	f.Add(cursorOf(q, "0198a000-0000-7000-8000-000000000000"))
	f.Add(cursorOf(RunQuery{}, "x"))
	f.Add("")
	f.Add("====")
	f.Fuzz(func(t *testing.T, text string) {
		at, err := readCursor(q, text)
		switch {
		case err != nil && media.CodeOf(err) != media.CodeInvalid:
			t.Errorf("%q: %v", text, err)
		case err == nil && text != "" && (at == "" || readBack(t, q, at) != at):
			t.Errorf("%q: %q", text, at)
		}
	})
}

func readBack(t *testing.T, q RunQuery, at string) string {
	t.Helper()
	again, err := readCursor(q, cursorOf(q, at))
	if err != nil {
		t.Fatal(err)
	}
	return again
}

// TestEveryCodeHasItsStatus: each error code has its HTTP status; an internal error hides its detail.
func TestEveryCodeHasItsStatus(t *testing.T) {
	t.Parallel()
	for code, want := range map[media.Code]int{
		media.CodeInvalid: 400, media.CodeUnauthorized: 401, media.CodeOverBudget: 402, media.CodeForbidden: 403, media.CodeNotFound: 404, media.CodeUnknownRef: 404,
		media.CodeConflict: 409, media.CodeTooLarge: 413, media.CodeUnsupported: 422, media.CodeModerated: 422, media.CodeMissingKey: 424, media.CodeRateLimited: 429,
		media.CodeCancelled: 499, media.CodeInternal: 500, media.CodeBadResponse: 502, media.CodeUnavailable: 503, media.CodeDeadline: 504, media.CodeDiskFull: 507,
	} {
		if got := StatusOf(code); got != want {
			t.Errorf("%s: %d, want %d", code, got, want)
		}
	}
	secret := problemOf(t.Context(), media.Errorf(media.CodeInternal, "the password is hunter2"))
	if strings.Contains(secret.Detail, "hunter2") || secret.Status != 500 {
		t.Errorf("%+v", secret)
	}
	slow := media.Errorf(media.CodeRateLimited, "later")
	slow.RetryAfter = 3 * time.Second
	if p := problemOf(t.Context(), slow); p.GetHeaders().Get("Retry-After") != "4" || !p.Retryable {
		t.Errorf("%+v", p)
	}
}

// TestUploadsAreBounded: an upload that is declared too large is not read; one of unknown length is cut off.
func TestUploadsAreBounded(t *testing.T) {
	t.Parallel()
	s := New(Config{Media: fixedService{}, MaxUpload: 1000})
	for name, length := range map[string]int64{"declared": 10 << 30, "not declared": -1} {
		body := &counted{r: strings.NewReader("--x\r\nContent-Disposition: form-data; name=\"label\"\r\n\r\n" + strings.Repeat("a", 50_000))}
		r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/api/media", body)
		r.Header.Set("Content-Type", "multipart/form-data; boundary=x")
		r.ContentLength = length
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != http.StatusRequestEntityTooLarge || length > 0 && body.n > 0 || body.n > 10_000 || !strings.Contains(w.Body.String(), "MiB that this server accepts: choose a smaller one") {
			t.Errorf("%s: %d after %d bytes: %s", name, w.Code, body.n, w.Body)
		}
	}
}

type counted struct {
	r io.Reader
	n int
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p[:min(len(p), 512)])
	c.n += n
	return n, err
}

// typedService is a media service with one item of a given type.
type typedService struct {
	fixedService
	kind string
}

func (f typedService) OpenMedia(ctx context.Context, id string, width int) (Content, error) {
	c, err := f.fixedService.OpenMedia(ctx, id, width)
	c.MIMEType = f.kind
	return c, err
}

// recordingService is a media service that records what was stored.
type recordingService struct {
	MediaService
	upload Upload
	bytes  []byte
}

func (k *recordingService) StoreMedia(_ context.Context, r io.Reader, u Upload) (Media, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return Media{}, err
	}
	k.upload, k.bytes = u, b
	return Media{ID: "m"}, nil
}

// FuzzForm: any form is stored within the limit and under a name without folders, or it is refused.
func FuzzForm(f *testing.F) {
	part := func(head, body string) string {
		return "--x\r\nContent-Disposition: form-data; " + head + "\r\n\r\n" + body + "\r\n"
	}
	for _, body := range []string{
		part(`name="file"; filename="a.png"`, "hello") + "--x--\r\n", part(`name="label"`, "l\xff") + part(`name="file"; filename="..\..\a\x00.png"`, "hello") + "--x--\r\n",
		part(`name="file"; filename*=utf-8''%2e%2e%2f%00`, "hello"), part(`name="file"`, strings.Repeat("a", 5000)), "--x\r\n\r\n", "--x--", "", strings.Repeat(part(`name="a"`, ""), 20),
	} {
		f.Add("multipart/form-data; boundary=x", []byte(body))
	}
	f.Add("multipart/form-data; boundary=", []byte("--"))
	f.Add("multipart/mixed; boundary=x", []byte("--x"))
	const limit = 4000
	f.Fuzz(func(t *testing.T, kind string, body []byte) {
		k := &recordingService{}
		s := New(Config{Media: k, MaxUpload: limit})
		r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/api/media", bytes.NewReader(body))
		r.Header["Content-Type"] = []string{kind}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		switch w.Code {
		case http.StatusCreated:
			name := k.upload.FileName
			if len(k.bytes) > limit || strings.ContainsAny(name, "/\\\x00\r\n") || name == ".." || !utf8.ValidString(name) || !utf8.ValidString(k.upload.Label) {
				t.Errorf("%d bytes as %q, %q", len(k.bytes), name, k.upload.Label)
			}
		case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType:
			if w.Header().Get("Content-Type") != problemType || k.bytes != nil {
				t.Errorf("%d %v, and %d bytes are stored", w.Code, w.Header(), len(k.bytes))
			}
		default:
			if kind, _, _ := mime.ParseMediaType(kind); kind != "application/json" {
				t.Errorf("%q: %d %s", kind, w.Code, w.Body)
			}
		}
	})
}

// FuzzLink: only a link that was issued opens an item.
func FuzzLink(f *testing.F) {
	s := New(Config{Media: fixedService{b: []byte("x")}, Tokens: secrets{}, LinkKey: []byte("key"), RequestsPerSecond: -1, Now: func() time.Time { return time.Unix(1_900_000_000, 0) }})
	good := s.access.mediaURL(httptest.NewRequest(http.MethodGet, "/", nil))("x")
	f.Add(good)
	f.Add(strings.Replace(good, "/x?", "/y?", 1))
	f.Add("/media/x?signature=&expires=&owner=")
	f.Add("/media/x?signature=a&signature=b&expires=9999999999")
	f.Fuzz(func(t *testing.T, link string) {
		u, err := url.ParseRequestURI(link)
		if err != nil || !u.Query().Has(linkSignature) {
			return
		}
		r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1/", nil)
		r.URL = u
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		q, own := u.Query(), must(t, good)
		same := u.Path == own.Path && q.Get(linkSignature) == own.Query().Get(linkSignature) && q.Get(linkExpires) == own.Query().Get(linkExpires) && q.Get(linkOwner) == ""
		if got := w.Code == http.StatusOK; got != same && (got || w.Code < 300) {
			t.Errorf("%s: %d", link, w.Code)
		}
	})
}

func must(t *testing.T, link string) *url.URL {
	t.Helper()
	u, err := url.Parse(link)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
