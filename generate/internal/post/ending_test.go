package post_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"atelier/media/wire/wiretest"

	"github.com/google/go-cmp/cmp"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/generate/driver"
	"atelier/generate/generatetest"
	"atelier/generate/internal/post"
	"atelier/media"
	"atelier/media/wire"
)

// TestWithout: a success without a result is a refusal if the provider's words say so, and otherwise a bad response.
func TestWithout(t *testing.T) {
	t.Parallel()
	c := provider(t, 200, nil, "{}")
	sound := driver.Task{N: 2, Model: catalog.Model{Modality: media.ModalityAudio}}
	for name, q := range map[string]struct {
		ending post.Ending
		task   driver.Task
		want   *generate.Safety // nil: bad_response
		says   string
	}{
		"nothing":   {post.Ending{}, driver.Task{}, nil, "X answered without a picture and without a reason"},
		"length":    {post.Ending{Reasons: []string{"MAX_TOKENS"}, Said: "and then"}, driver.Task{}, nil, "finish reason MAX_TOKENS"},
		"stop":      {post.Ending{Reasons: []string{"stop"}}, driver.Task{}, nil, "finish reason stop"},
		"safety":    {post.Ending{Reasons: []string{"IMAGE_SAFETY"}, Categories: []string{"GORE"}}, driver.Task{}, &generate.Safety{Blocked: true, Stage: "output", Categories: []string{"IMAGE_SAFETY", "GORE"}}, "X refused to make the picture: change the prompt (IMAGE_SAFETY)"},
		"second":    {post.Ending{Reasons: []string{"stop", "content_filter"}, Said: "No."}, driver.Task{}, &generate.Safety{Blocked: true, Stage: "output", Categories: []string{"content_filter"}}, "(content_filter: No.)"},
		"blocked":   {post.Ending{Blocked: true, Reasons: []string{"OTHER"}}, driver.Task{}, &generate.Safety{Blocked: true, Stage: "input", Categories: []string{"OTHER"}}, "(OTHER)"},
		"only text": {post.Ending{Reasons: []string{"STOP"}, Said: "I will not. hush-hush"}, sound, &generate.Safety{Blocked: true, Stage: "output"}, "refused to make the sound: change the prompt (text in place of a sound: I will not. [key])"},
	} {
		items, err := c.Without(post.Call{Task: q.task}, q.ending)
		if q.want == nil {
			if media.CodeOf(err) != media.CodeBadResponse || !strings.Contains(err.Error(), q.says) || len(items) > 0 {
				t.Errorf("%s: %+v, %v", name, items, err)
			}
			continue
		}
		if err != nil || len(items) != max(q.task.N, 1) || cmp.Diff(q.want, items[0].Safety) != "" || !strings.Contains(items[0].Err.Message, q.says) {
			t.Errorf("%s: %+v, %v", name, items, err)
		}
	}
}

func TestItems(t *testing.T) {
	t.Parallel()
	c := provider(t, 200, nil, "{}")
	_, from := wire.WithCollector(t.Context())
	for said, code := range map[string]media.Code{
		"": media.CodeBadResponse, "ftp://x.example/a.png": media.CodeBadResponse, "file:///etc/passwd": media.CodeBadResponse,
		"data:image/png;base64,": media.CodeBadResponse, "https://x.example/a.png": "", "http://x.example/a.png": "",
	} {
		it := c.Item(from, said)
		if code == "" && (it.URL != said || it.Err != nil) || code != "" && media.CodeOf(it.Err) != code {
			t.Errorf("%q: %+v", said, it)
		}
	}
}

// TestPhrases: the provider's words take precedence over its status, but not over what the driver has recognized; a
// failure of the provider is not a refusal.
func TestPhrases(t *testing.T) {
	t.Parallel()
	for _, q := range []struct {
		status     int
		words      string
		code       media.Code
		moderation bool
		says       string
	}{
		{400, "You have NO MONEY left", media.CodeQuotaExceeded, false, "pay first"},
		{400, "that is filthy", "", true, ""},
		{500, "that is filthy", media.CodeUnavailable, false, "status 500"},
		{400, "that is odd", media.CodeInvalid, false, "odd"},
	} {
		c, err := post.New(post.Config{
			Name: "X", Explain: explain,
			Config: driver.Config{BaseURL: "https://x.example", Codec: wiretest.NewCodec(t), Base: generatetest.Answer{Status: q.status, Body: fmt.Sprintf(`{"words":%q}`, q.words)}},
			Phrases: post.Phrases{
				{Any: []string{"no money", "broke"}, Code: media.CodeQuotaExceeded, Advice: "pay first"},
				{Any: []string{"filth"}, Code: media.CodeModerated},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		u, err := c.Do(t.Context(), post.Call{Path: "/", Body: post.Body{}, Of: "a fox", Task: driver.Task{N: 3}})
		if q.moderation {
			if err != nil || len(u.Items) != 3 || media.CodeOf(u.Items[0].Err) != media.CodeModerated {
				t.Errorf("%d %s: %+v, %v", q.status, q.words, u, err)
			}
		} else if media.CodeOf(err) != q.code || !strings.Contains(err.Error(), q.says) {
			t.Errorf("%d %s: %v", q.status, q.words, err)
		}
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	seed, least := int64(0), 0
	b := post.Body{}
	b.Settings(driver.Task{Prompt: "p", Width: 3, Height: 4, Seed: &seed, Compression: &least, Style: "s", Quality: "q"},
		post.Names{Prompt: "text", Size: "size", Width: "w", Seed: "seed", Compression: "c", Style: "style", Tier: "tier"})
	want := post.Body{"text": "p", "size": "3x4", "w": 3, "seed": seed, "c": least, "style": "s"}
	if diff := cmp.Diff(want, b); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	b = post.Body{}
	b.Set("empty", post.Body{})
	if err := b.Options(driver.Task{Model: catalog.Model{SettingRules: catalog.SettingRules{Options: []string{"a", "b"}}}, Options: map[string]any{"a": 1, "b": 2}}, map[string]string{"a": "x", "b": post.HandledByDriver}); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(post.Body{"x": 1}, b); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestReadNotification: a notification without the secret is refused; if no secret is configured, it names its task and
// is not trusted.
func TestReadNotification(t *testing.T) {
	t.Parallel()
	for _, q := range []struct {
		secret, sent, body string
		believed           bool
		code               media.Code
	}{
		{"k", "Bearer k", `{"id":"t-1"}`, true, ""},
		{"k", "Bearer other", `{"id":"t-1"}`, false, media.CodeUnauthorized},
		{"k", "", `{"id":"t-1"}`, false, media.CodeUnauthorized},
		{"", "", `{"id":"t-1"}`, false, ""},
		{"k", "Bearer k", `{"id":"../t"}`, false, media.CodeInvalid},
		{"k", "Bearer k", `{`, false, media.CodeInvalid},
	} {
		var got struct {
			ID string `json:"id"`
		}
		n := driver.Notification{Header: map[string][]string{"Authorization": {q.sent}}, Body: []byte(q.body)}
		c, err := post.New(post.Config{Config: driver.Config{NotifySecret: q.secret, Codec: wiretest.NewCodec(t)}, Genuine: post.Bearer})
		if err != nil {
			t.Fatal(err)
		}
		h, believed, err := c.DecodeWebhook(n, &got, func() string { return got.ID })
		if believed != q.believed || q.code == "" && (err != nil || h.ID != "t-1") || q.code != "" && media.CodeOf(err) != q.code {
			t.Errorf("%+v: %+v, %v, %v", q, h, believed, err)
		}
	}
}

// TestStreams: previews are shown in order, results are kept, and a call that fails after a preview is not repeated.
func TestStreams(t *testing.T) {
	t.Parallel()
	event := func(kind string, index int) string {
		return fmt.Sprintf("data: {\"kind\":%q,\"index\":%d,\"media\":%q}\n\n", kind, index, base64.StdEncoding.EncodeToString(generatetest.PNG(9, 9, uint8(index))))
	}
	read := func(from *wire.Collector, data []byte) (post.Frame, error) {
		var e struct {
			Kind  string `json:"kind"`
			Index int    `json:"index"`
			Media string `json:"media"`
		}
		err := json.Unmarshal(data, &e)
		switch e.Kind {
		case "early":
			return post.Preview(from, e.Media, e.Index), err
		case "whole":
			b, failed := from.Take(e.Media)
			if !failed {
				return post.Frame{}, errors.New("no media")
			}
			return post.Frame{Results: driver.Update{Items: []driver.Item{{Blob: &b}}}}, err
		case "error":
			return post.Frame{Fault: &post.Fault{Code: media.CodeRateLimited, Words: "slow"}}, err
		}
		return post.Frame{}, err
	}
	for name, q := range map[string]struct {
		body      string
		shown     []int
		items     int
		code      media.Code
		unsettled bool
	}{
		"whole":        {event("early", 0) + event("early", 1) + event("whole", 0) + event("other", 0), []int{1, 1}, 1, "", false},
		"older":        {event("early", 1) + event("early", 0) + event("whole", 0), []int{1}, 1, "", false},
		"error first":  {event("error", 0), nil, 0, media.CodeRateLimited, false},
		"error later":  {event("early", 0) + event("error", 0), []int{1}, 0, media.CodeRateLimited, true},
		"cut":          {event("early", 0) + "data: {\"kind", []int{1}, 0, media.CodeBadResponse, true},
		"nothing":      {"", nil, 0, media.CodeBadResponse, true},
		"other shapes": {"data: {\"kind\":7}\n\n", nil, 0, media.CodeBadResponse, true},
	} {
		c, err := post.New(post.Config{
			Name: "X", Media: []string{"media"}, Explain: explain,
			Config: driver.Config{BaseURL: "https://x.example", Codec: wiretest.NewCodec(t), Base: generatetest.Answer{Status: http.StatusOK, Type: "text/event-stream", Body: q.body}},
		})
		if err != nil {
			t.Fatal(err)
		}
		var shown []int
		ctx := media.WithScope(context.Background(), media.Scope{Owner: "o", Tree: "t"})
		u, err := c.Do(ctx, post.Call{Path: "/", Body: post.Body{}, Frame: read, Task: driver.Task{Partial: func(slot int, _ media.Blob) { shown = append(shown, slot) }}})
		if diff := cmp.Diff(q.shown, shown); diff != "" {
			t.Errorf("%s: shown (-want +got):\n%s", name, diff)
		}
		if len(u.Items) != q.items || q.code == "" && err != nil || q.code != "" && media.CodeOf(err) != q.code || errors.Is(err, driver.ErrUnsettled) != q.unsettled {
			t.Errorf("%s: %+v, %v", name, u, err)
		}
	}
}

// TestUnfinished: the words of a failed task determine its code; a refusal is one moderated item per result and is not
// retried.
func TestUnfinished(t *testing.T) {
	t.Parallel()
	c, err := post.New(post.Config{
		Name: "X", Config: driver.Config{BaseURL: "https://x.example", APIKey: "hush-hush", Codec: wiretest.NewCodec(t)},
		Failures: post.Phrases{
			{Any: []string{"banned"}, Code: media.CodeModerated, Advice: "use other words"},
			{Any: []string{"queue"}, Code: media.CodeUnavailable, Advice: "ask again"},
			{Any: []string{"value"}, Code: media.CodeInvalid, Advice: "change it"},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for reason, want := range map[string]struct {
		code  media.Code
		says  string
		stage string // of the refusal
	}{
		"Banned PROMPT hush-hush": {media.CodeModerated, "use other words (Banned PROMPT [key])", "input"},
		"banned image":            {media.CodeModerated, "use other words (banned image)", "output"},
		"banned":                  {media.CodeModerated, "use other words (banned)", ""},
		"the queue is full":       {media.CodeUnavailable, "ask again (the queue is full)", ""},
		"bad value":               {media.CodeInvalid, "change it (bad value)", ""},
		"odd":                     {media.CodeUnavailable, "X could not finish the task: ask again, or change the prompt or the settings (odd)", ""},
		" ":                       {media.CodeUnavailable, "X could not finish the task: ask again, or change the prompt or the settings (no reason given)", ""},
	} {
		items := c.Unfinished(driver.Task{N: 3}, reason)
		if len(items) != 3 || items[2].Err.Code != want.code || items[2].Err.Message != want.says || items[2].Err.Retryable {
			t.Errorf("%q: %+v", reason, items)
		}
		if v := items[0].Safety; (v != nil) != (want.code == media.CodeModerated) || v != nil && (v.Stage != want.stage || !v.Blocked) {
			t.Errorf("%q: verdict %+v", reason, v)
		}
	}
}

// TestPercent: percentages of an unexpected shape are ignored and are never an error.
func TestPercent(t *testing.T) {
	t.Parallel()
	for in, want := range map[post.Text]float64{"45%": 0.45, " 100 ": 1, "0%": 0, "": -1, "half": -1, "101%": -1, "-1%": -1, "NaN": -1, "1e309%": -1} {
		if got := in.Percent(); got != want {
			t.Errorf("%q: %v, want %v", in, got, want)
		}
	}
}
