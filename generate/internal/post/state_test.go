package post_test

import (
	"encoding/json"
	"testing"
	"time"

	"atelier/media/wire/wiretest"

	"atelier/generate/driver"
	"atelier/generate/internal/post"
	"atelier/media"
)

func TestStands(t *testing.T) {
	t.Parallel()
	c, err := post.New(post.Config{
		Name: "Provider", Config: driver.Config{BaseURL: "https://api.example", Codec: wiretest.NewCodec(t)},
		States: map[string]post.State{"ok": post.Finished, "bad": post.Broken, "gone": post.Stopped},
	})
	if err != nil {
		t.Fatal(err)
	}
	h := driver.Handle{ID: "7"}
	for state, want := range map[string]struct {
		items int
		code  media.Code
	}{"ok": {1, ""}, "bad": {3, media.CodeUnavailable}, "gone": {3, media.CodeUnavailable}, "working": {0, ""}, "": {0, ""}} {
		u := c.Update(driver.Task{N: 3}, h, post.Status{
			State: state, Progress: 0.4, Preview: "https://cdn.example/early", Items: func() []driver.Item { return []driver.Item{{URL: "https://cdn.example/x"}} },
		})
		over := want.items > 0
		if u.Task != h || u.Done != over || len(u.Items) != want.items || (u.Preview == "") != over || u.Progress != map[bool]float64{true: 1, false: 0.4}[over] {
			t.Errorf("%q: %+v", state, u)
		}
		for _, it := range u.Items {
			if want.code != "" && (media.CodeOf(it.Err) != want.code || it.Err.Retryable || it.Unbilled) {
				t.Errorf("%q: %+v", state, it)
			}
		}
	}
}

func TestBegun(t *testing.T) {
	t.Parallel()
	c, err := post.New(post.Config{Name: "Provider", Config: driver.Config{BaseURL: "https://api.example", Codec: wiretest.NewCodec(t)}})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []struct {
		price        post.Price
		usd, credits string
	}{
		{post.Price{}, "", ""},
		{post.Price{USD: "0.012"}, "0.012", ""},
		{post.Price{Cents: "3.0000000000000004"}, "0.03", ""},
		{post.Price{Credits: "11"}, "", "11"},
		{post.Price{USD: "free", Credits: "-1"}, "", ""},
	} {
		u, err := c.Accepted(driver.Handle{ID: "7"}, p.price)
		if err != nil || u.Done || u.Task.ID != "7" || u.ReportedUSD != p.usd || u.ReportedCredits != p.credits {
			t.Errorf("%+v: %+v, %v", p.price, u, err)
		}
	}
	if u, err := c.Accepted(driver.Handle{}, post.Price{USD: "1"}); media.CodeOf(err) != media.CodeBadResponse || u.Task.ID != "" {
		t.Errorf("a task without a name: %+v, %v", u, err)
	}
}

// TestFieldsOfForms: providers write the fields as an object or as a string that holds one.
func TestFieldsOfForms(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]int{`{"a":"1","b":2}`: 2, `"{\"a\":\"1\"}"`: 1, `{}`: 0, `"x"`: -1, `[1]`: -1, `null`: -1, `"[1]"`: -1, `7`: -1} {
		var l post.UploadGrant
		if err := json.Unmarshal([]byte(`{"id":"i","url":"u","fields":`+said+`}`), &l); err != nil || l.ID != "i" {
			t.Fatalf("%s: %v", said, err)
		}
		if (l.Fields == nil) != (want < 0) || len(l.Fields) != max(want, 0) {
			t.Errorf("%s gave %v", said, l.Fields)
		}
	}
}

func TestTimes(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for said, want := range map[post.Text]time.Time{
		"2026-11-21T12:00:00Z": noon, "2026-11-21T12:00:00.000": noon, "2026-11-21T13:00:00+01:00": noon, "": {}, "yesterday": {},
	} {
		if got := said.Time(); !got.Equal(want) {
			t.Errorf("%q is %s", said, got)
		}
	}
}
