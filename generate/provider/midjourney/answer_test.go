package midjourney_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"atelier/media/wire/wiretest"

	"atelier/generate/driver"
	"atelier/generate/generatetest/midjourneysim"
	"atelier/generate/provider/midjourney"
	"atelier/media"
)

// newFixedDriver returns a driver on a proxy that gives the same answer to every call.
func newFixedDriver(t *testing.T, status int, kind, body string) *midjourney.Driver {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body) // the client may have disconnected
	}))
	t.Cleanup(srv.Close)
	d, err := midjourney.New(midjourney.Config{BaseURL: srv.URL, APIKey: "hush-hush", Codec: wiretest.NewCodec(t)})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestSubmissionsThatAreRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, kind, body string
		status           int
		code             media.Code
		retry, unsettled bool
	}{
		{"failed", "application/json", `{"code":9,"description":"fail","result":null}`, 200, media.CodeUnavailable, true, false},
		{"failed with a task", "application/json", `{"code":9,"description":"fail","result":"1"}`, 200, media.CodeUnavailable, false, true},
		{"unknown code", "application/json", `{"code":77,"description":"hush-hush"}`, 200, media.CodeUnavailable, false, true},
		{"500 with an envelope", "application/json", `{"code":9,"description":"fail"}`, 500, media.CodeUnavailable, false, true},
		{"500 of the framework", "application/json", `{"timestamp":"2026","status":500,"error":"Internal Server Error"}`, 500, media.CodeUnavailable, false, true},
		{"no task", "application/json", `{"code":1,"description":"ok","result":null}`, 200, media.CodeBadResponse, false, true},
		{"an array", "application/json", `[1]`, 200, media.CodeBadResponse, false, true},
		{"payment", "text/plain", `pay`, 402, media.CodeQuotaExceeded, false, false},
		{"502 page", "text/html", `<html>`, 502, media.CodeUnavailable, false, true},
		{"401 with an envelope", "application/json", `{"code":4,"description":"invalid token"}`, 401, media.CodeUnauthorized, false, false},
		{"no endpoint", "text/plain", `404`, 404, media.CodeNotFound, false, false},
	} {
		_, err := newFixedDriver(t, c.status, c.kind, c.body).Start(t.Context(), task(t, nil))
		if media.CodeOf(err) != c.code || errors.Is(err, driver.ErrUnsettled) != c.unsettled {
			t.Errorf("%s: %v (%s), unsettled %v", c.name, err, media.CodeOf(err), errors.Is(err, driver.ErrUnsettled))
		}
		if !c.unsettled && media.Retryable(err) != c.retry || strings.Contains(err.Error(), "hush-hush") {
			t.Errorf("%s: retryable %v: %v", c.name, media.Retryable(err), err)
		}
	}
}

// TestProxiesDisagree: answers with numbers for strings, strings for objects, or without buttons are read.
func TestProxiesDisagree(t *testing.T) {
	t.Parallel()
	poll := func(body string) (driver.Update, error) {
		return newFixedDriver(t, http.StatusOK, "application/json", body).Poll(t.Context(), task(t, nil), driver.Handle{ID: "7"})
	}
	u, err := poll(`{"id":1795262400000001,"action":"IMAGINE","status":"SUCCESS","progress":100,"imageUrl":"https://cdn.example/x.png",
		"buttons":"","properties":"","imageUrls":null,"seed":77,"prompt":"a house"}`)
	if err != nil || !u.Done || len(u.Items) != 1 || u.Items[0].Tiles == nil || *u.Items[0].Seed != 77 || u.Items[0].RevisedPrompt != "a house" {
		t.Errorf("%+v, %v", u, err)
	}
	if raw, _ := json.Marshal(u.Items[0].Metadata); string(raw) != `{"midjourney":{"task_id":"1795262400000001","action":"IMAGINE"}}` {
		t.Errorf("metadata %s", raw)
	}
	u, err = poll(`{"id":"1","action":"UPSCALE","status":"SUCCESS","imageUrls":[{"url":"https://cdn.example/one.png"}],"imageUrl":"https://cdn.example/x.png"}`)
	if err != nil || u.Items[0].URL != "https://cdn.example/one.png" || u.Items[0].Tiles != nil {
		t.Errorf("%+v, %v", u, err)
	}
	for body, want := range map[string]float64{
		`{"status":"IN_PROGRESS","progress":"45%"}`: 0.45, `{"status":"MODAL","progress":""}`: -1,
		`{"status":"NOT_START"}`: -1, `{"status":"IN_PROGRESS","progress":"900%"}`: -1,
	} {
		if u, err := poll(body); err != nil || u.Done || u.Progress != want {
			t.Errorf("%s: %+v, %v", body, u, err)
		}
	}
	for _, body := range []string{`{"code":401}`, `<html>`, `[]`, `{"status":""}`} {
		if _, err := poll(body); media.CodeOf(err) != media.CodeUnavailable || !media.Retryable(err) {
			t.Errorf("%s says something about the task: %v", body, err)
		}
	}
}

func TestFailuresByTheirWords(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]media.Code{
		"[Banned prompt] Banned prompt detected":               media.CodeModerated,
		"[Sorry!] Our AI moderators feel your prompt might be": media.CodeModerated,
		"可能包含敏感词":                                              media.CodeModerated,
		"[Invalid parameter] Invalid value for --ar":           media.CodeInvalid,
		"[Invalid parameter] Invalid value for --niji":         media.CodeNotFound,
		"[Invalid link] Could not reach the image":             media.CodeInvalid,
		"[Subscription required] You need a subscription":      media.CodeQuotaExceeded,
		"任务超时":          media.CodeUnavailable,
		"Something odd": media.CodeBadResponse,
		"":              media.CodeBadResponse,
	} {
		raw, err := json.Marshal(map[string]any{"id": "1", "status": "FAILURE", "failReason": reason, "progress": ""})
		if err != nil {
			t.Fatal(err)
		}
		q := task(t, func(q *driver.Task) { q.N = 3 })
		u, err := newFixedDriver(t, http.StatusOK, "application/json", string(raw)).Poll(t.Context(), q, driver.Handle{ID: "1"})
		if err != nil || !u.Done || len(u.Items) != 3 || media.CodeOf(u.Items[2].Err) != want || (u.Items[0].Safety != nil) != (want == media.CodeModerated) {
			t.Errorf("%q: %+v, %v; want %s", reason, u.Items, err, want)
		}
	}
}

func TestNotificationsNameTheTaskAndNoMore(t *testing.T) {
	t.Parallel()
	s := newTestDriver(t, midjourneysim.Config{})
	h := s.start(t, task(t, nil))
	all := s.sim.Notifications(h.ID)
	if len(all) != 6 || string(all[4].Body) != string(all[5].Body) || !strings.Contains(string(all[5].Body), `"SUCCESS"`) {
		t.Fatalf("%d notifications, the last one %s", len(all), all[len(all)-1].Body)
	}
	for _, n := range all {
		u, err := s.driver.Notification(t.Context(), n)
		if err != nil || u.Task != h || u.Done || len(u.Items) != 0 {
			t.Errorf("Notification: %+v, %v", u, err)
		}
	}
	for _, body := range []string{"", "null", "[]", `{"status":"SUCCESS"}`, `{"id":"../1","status":"SUCCESS"}`, `{"id":"` + strings.Repeat("1", 65) + `","status":"SUCCESS"}`} {
		if _, err := s.driver.Notification(t.Context(), driver.Notification{Body: []byte(body)}); media.CodeOf(err) != media.CodeInvalid {
			t.Errorf("%.40q: %v", body, err)
		}
	}
}

func TestConfigurationNamesItsVariable(t *testing.T) {
	t.Parallel()
	if _, err := midjourney.New(midjourney.Config{}); media.CodeOf(err) != media.CodeInvalid {
		t.Errorf("without a codec: %v", err)
	}
	c := midjourney.Config{Codec: wiretest.NewCodec(t), BaseURL: "proxy.example"}
	if _, err := midjourney.New(c); media.CodeOf(err) != media.CodeInvalid || !strings.Contains(err.Error(), "MIDJOURNEY_PROXY_URL") {
		t.Errorf("without a scheme: %v", err)
	}
	c.BaseURL = ""
	d, err := midjourney.New(c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Start(t.Context(), task(t, nil)); media.CodeOf(err) != media.CodeMissingKey || !strings.Contains(err.Error(), "MIDJOURNEY_PROXY_URL") {
		t.Errorf("Start without a proxy: %v", err)
	}
}
