package midjourney

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"atelier/media/wire/wiretest"

	"github.com/google/go-cmp/cmp"

	"atelier/generate/driver"
	"atelier/generate/generatetest"
	"atelier/generate/internal/post"
	"atelier/media"
)

// driverOver returns a driver over a transport.
func driverOver(tb testing.TB, base http.RoundTripper) *Driver {
	tb.Helper()
	d, err := New(Config{BaseURL: "http://proxy.example", APIKey: "very-secret", Codec: wiretest.NewCodec(tb), Base: base})
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

// recordingTransport is a transport that records the calls.
type recordingTransport struct {
	generatetest.Answer
	to *[]string
}

func (n recordingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	*n.to = append(*n.to, r.Method+" "+r.URL.Path)
	return n.Answer.RoundTrip(r)
}

// TestCancelOfProxies: a proxy that does not know the job has nothing to stop; a proxy without such a path cannot stop
// it.
func TestCancelOfProxies(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answer generatetest.Answer
		code   media.Code
	}{
		"stopped":   {generatetest.Answer{Status: 200, Body: `{"code":1,"description":"Cancel success"}`}, ""},
		"unknown":   {generatetest.Answer{Status: 404, Body: `{"code":3,"description":"task not found"}`}, ""},
		"no path":   {generatetest.Answer{Status: 404, Body: `{"status":404,"error":"Not Found","path":"/mj/task/1/cancel"}`}, media.CodeUnsupported},
		"no method": {generatetest.Answer{Status: 405, Body: ``}, media.CodeUnsupported},
		"away":      {generatetest.Answer{Status: 502, Body: `<html>`}, media.CodeUnavailable},
		"busy":      {generatetest.Answer{Status: 429, Body: `{"code":23,"description":"too many requests"}`}, media.CodeUnavailable},
		"login":     {generatetest.Answer{Status: 302, Body: `<html>`}, media.CodeUnavailable},
		"gateway":   {generatetest.Answer{Status: 400, Body: `{"error":{"message":"bad request"}}`}, media.CodeUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := driverOver(t, test.answer).Cancel(t.Context(), driver.Handle{ID: "1"}); media.CodeOf(err) != test.code {
				t.Errorf("%v, want %q", err, test.code)
			}
		})
	}
}

func TestPaths(t *testing.T) {
	t.Parallel()
	var to []string
	d := driverOver(t, recordingTransport{generatetest.Answer{Status: 200, Body: `{"code":1,"result":7,"status":"SUCCESS"}`}, &to})
	for _, speed := range []string{"", "turbo"} {
		got, u, err := d.submit(t.Context(), driver.Task{Options: map[string]any{"speed": speed}}, "imagine", post.Body{"prompt": "x"})
		if err != nil || u.Task.ID != "7" || got.Code == codeExists {
			t.Errorf("%+v, %+v, %v", got, u, err)
		}
	}
	if _, err := d.Poll(t.Context(), driver.Task{}, driver.Handle{ID: "a/b"}); err != nil {
		t.Error(err)
	}
	if err := d.Cancel(t.Context(), driver.Handle{ID: "7"}); err != nil {
		t.Error(err)
	}
	want := []string{"POST /mj/submit/imagine", "POST /mj-turbo/mj/submit/imagine", "GET /mj/task/a/b/fetch", "POST /mj/task/7/cancel"}
	if diff := cmp.Diff(want, to); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestSubmissionsThatFail(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]struct {
		code  media.Code
		retry bool
	}{
		`{"code":3,"description":"gone"}`:                    {media.CodeNotFound, false},
		`{"code":4,"description":"bad"}`:                     {media.CodeInvalid, false},
		`{"code":9,"description":"broken"}`:                  {media.CodeUnavailable, true},
		`{"code":9,"description":"broken","result":"job-1"}`: {media.CodeUnavailable, false},
		`{"code":23,"description":"full"}`:                   {media.CodeRateLimited, true},
		`{"code":30,"description":"busy"}`:                   {media.CodeRateLimited, true},
		`{"code":5,"description":"quota is over"}`:           {media.CodeQuotaExceeded, false},
		`{"code":99,"description":"odd"}`:                    {media.CodeUnavailable, false},
		`{"code":1}`:                                         {media.CodeBadResponse, false},
	} {
		_, _, err := driverOver(t, generatetest.Answer{Status: 200, Body: body}).submit(t.Context(), driver.Task{}, "imagine", post.Body{})
		if media.CodeOf(err) != want.code || media.Retryable(err) != want.retry {
			t.Errorf("%s: %v, to be repeated %v", body, err, media.Retryable(err))
		}
	}
	_, u, err := driverOver(t, generatetest.Answer{Status: 200, Body: `{"code":24,"properties":{"bannedWord":"gore"}}`}).
		submit(t.Context(), driver.Task{N: 2}, "imagine", post.Body{})
	if err != nil || len(u.Items) != 2 || media.CodeOf(u.Items[0].Err) != media.CodeModerated {
		t.Errorf("a banned word: %+v, %v", u, err)
	}
}

func TestFetchOfWhatIsNoJob(t *testing.T) {
	t.Parallel()
	for _, q := range []struct {
		status int
		body   string
		code   media.Code
	}{
		{200, "", media.CodeNotFound},
		{200, " null ", media.CodeNotFound},
		{404, "{}", media.CodeNotFound},
		{200, "{}", media.CodeUnavailable},
		{200, "<html>", media.CodeUnavailable},
		{500, `{"status":"SUCCESS"}`, media.CodeUnavailable},
		{401, "", media.CodeUnauthorized}, // the secret is refused: polling again does not help
		{403, "the account is disabled", media.CodeForbidden},
		{403, `{"code":4,"description":"no access"}`, media.CodeForbidden},
		{429, "", media.CodeRateLimited},
	} {
		if _, err := driverOver(t, generatetest.Answer{Status: q.status, Body: q.body}).Poll(t.Context(), driver.Task{}, driver.Handle{ID: "1"}); media.CodeOf(err) != q.code {
			t.Errorf("%d %q: %v", q.status, q.body, err)
		}
	}
	if err := driverOver(t, generatetest.Answer{Status: 503}).Cancel(t.Context(), driver.Handle{ID: "1"}); media.CodeOf(err) != media.CodeUnavailable {
		t.Errorf("Cancel: %v", err)
	}
}

// FuzzJob: whatever a proxy answers about a job, every button becomes an offer, and no link is empty or that of the
// grid next to its single pictures.
func FuzzJob(f *testing.F) {
	for _, s := range []string{
		`{"id":"1","status":"SUCCESS","imageUrl":"https://x/y.png","buttons":[{"customId":"MJ::JOB::upsample::1::h","emoji":"🔄"}]}`,
		`{"id":1,"buttons":{},"imageUrls":"x","properties":null}`, `{"imageUrls":[null,{"url":7}],"properties":[]}`, `null`,
		`{"buttons":[` + strings.Repeat(`{"customId":"a"},`, 60) + `{"customId":"` + strings.Repeat("iVBORw0KGgo", 15) + `"}]}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		var j report
		if json.Unmarshal([]byte(body), &j) != nil {
			return
		}
		if len(j.offers()) != len(j.Buttons) {
			t.Errorf("%d offers of %d buttons", len(j.offers()), len(j.Buttons))
		}
		if links := j.links(); slices.Contains(links, "") || len(links) > max(len(j.Singles), 1) {
			t.Errorf("%q are the pictures of %d", links, len(j.Singles))
		}
	})
}
