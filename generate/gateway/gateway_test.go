package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"atelier/media/wire/wiretest"

	"github.com/google/go-cmp/cmp"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/generate/generatetest"
	"atelier/media"
	"atelier/media/wire"
)

// testGateway is a gateway with scripted drivers.
type testGateway struct {
	*gateway.Gateway
	codec    *wire.Codec
	openai   *generatetest.Driver
	gemini   *generatetest.Driver
	offline  *generatetest.Driver
	log      *generatetest.Log
	recorder *generatetest.Recorder
	journal  *generatetest.Journal
}

// day returns noon of a day in 2026.
func day(m time.Month, d int) time.Time { return time.Date(2026, m, d, 12, 0, 0, 0, time.UTC) }

// build makes a gateway; change adapts its configuration.
func build(t *testing.T, change func(*testGateway, *gateway.Config)) *testGateway {
	t.Helper()
	h := &testGateway{
		codec: wiretest.NewCodec(t), log: &generatetest.Log{}, recorder: &generatetest.Recorder{},
		journal: &generatetest.Journal{},
	}
	var shade atomic.Int32
	drv := func(name string) *generatetest.Driver {
		return &generatetest.Driver{Name: name, Make: func(ctx context.Context, task driver.Task, _ int) (media.Blob, error) {
			w, ht := task.Width, task.Height
			if w == 0 {
				w, ht = 96, 64
			}
			return generatetest.Stored(ctx, t, h.codec, generatetest.PNG(w, ht, uint8(shade.Add(1)))), nil
		}}
	}
	h.openai, h.gemini, h.offline = drv("openai"), drv("gemini"), drv("offline")
	c := gateway.Config{
		Drivers: []driver.Driver{h.openai, h.gemini, h.offline}, Storage: h.codec, Recorder: h.recorder,
		Journal: h.journal, Operations: h.log, Now: func() time.Time { return day(11, 21) },
		Rand: func() float64 { return 1 },
	}
	if change != nil {
		change(h, &c)
	}
	g, err := gateway.New(c)
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	h.Gateway = g
	return h
}

func noKey(variable string) error {
	return media.Errorf(media.CodeMissingKey, "no key: set %s", variable)
}

func (h *testGateway) must(t *testing.T, r generate.Request) *generate.Result {
	t.Helper()
	if r.Prompt == "" {
		r.Prompt = "a red house"
	}
	got, err := h.Generate(t.Context(), r)
	if err != nil {
		t.Fatalf("Generate: %v", err)
	}
	return got
}

func TestGenerateSplitsAndKeepsSlotOrder(t *testing.T) {
	t.Parallel()
	rows, err := catalog.Load(strings.NewReader("provider: offline\nmodels: [{api_model: offline-1, max_n: 10}]"))
	if err != nil {
		t.Fatal(err)
	}
	h := build(t, func(_ *testGateway, c *gateway.Config) { c.Catalogue = rows })
	seed := int64(40)
	got := h.must(t, generate.Request{Model: "Atelier Offline", N: 23, Seed: &seed, Label: "House", Size: "80x64"})
	if got.Status != generate.StatusSucceeded || len(got.Slots) != 23 {
		t.Fatalf("status %s with %d slots", got.Status, len(got.Slots))
	}
	for i, s := range got.Slots {
		if s.Index != i+1 || s.Output == nil || s.Output.Width != 80 {
			t.Errorf("slot %d: %+v", i+1, s)
		}
	}
	calls := map[int64]int{}
	keys := map[string]bool{}
	for _, task := range h.offline.Tasks() {
		calls[*task.Seed] = task.N
		keys[task.Key] = true
	}
	if want := map[int64]int{40: 10, 50: 10, 60: 3}; !cmp.Equal(calls, want) || len(keys) != 3 {
		t.Errorf("calls by seed %v with %d keys, want %v with 3", calls, len(keys), want)
	}
	if l := got.Slots[1].Output.Label; l != "House 2" {
		t.Errorf("label %q", l)
	}
	if len(h.recorder.Records()) != 23 || got.Slots[0].Output.ID == "" {
		t.Errorf("%d records; first id %q", len(h.recorder.Records()), got.Slots[0].Output.ID)
	}
	if got.Cost.EstimatedUSD == nil || *got.Cost.EstimatedUSD != "0" || got.Cost.ReportedUSD == nil || *got.Cost.ReportedUSD != "0" {
		t.Errorf("cost %+v, want 0 and 0", got.Cost)
	}
}

func TestIntentComesBeforeTheCallAndReceiptAfter(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	h.openai.OnStart = func(ctx context.Context, _ driver.Task, _ int) (driver.Update, error) {
		if got := h.log.Entries(); !slices.Equal(got, []string{"begin queued", "attempt 1.1 submitted"}) {
			t.Errorf("before the call the journal has %q", got)
		}
		if len(media.ScopeOf(ctx).Operation) != 36 {
			t.Errorf("the call's scope names no operation")
		}
		b := generatetest.Stored(ctx, t, h.codec, generatetest.PNG(70, 70, 1))
		return driver.Update{Done: true, Items: []driver.Item{{Blob: &b}}, Usage: generate.Usage{Calls: 1, InputTokens: 20, OutputTokens: 1000, ImageOutputTokens: 1000}}, nil
	}
	got := h.must(t, generate.Request{Model: "gpt-image-2", Quality: "medium"})
	op := h.log.Operation(got.Operation)
	if op.Status != generate.StatusSucceeded || op.FinishedAt.IsZero() || op.Prompt != "a red house" || op.APIModel != "gpt-image-2" {
		t.Errorf("receipt %+v", op)
	}
	// 20 text tokens at 5 and 1000 image tokens at 30 dollars per million.
	if got.Cost.ReportedUSD == nil || *got.Cost.ReportedUSD != "0.0301" || *got.Cost.EstimatedUSD != "0.062" {
		t.Errorf("cost %+v, want 0.0301 reported and 0.062 estimated", got.Cost)
	}
	if a := h.log.Attempts()[0]; a.Status != generate.StatusSucceeded || a.Usage.OutputTokens != 1000 || a.FinishedAt.IsZero() {
		t.Errorf("attempt %+v", a)
	}
}

func TestNoIntentNoCall(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"begin", "attempt"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			h := build(t, nil)
			h.log.Fail = func(w string) error {
				if w == what {
					return media.Errorf(media.CodeDiskFull, "the disk is full")
				}
				return nil
			}
			got, err := h.Generate(t.Context(), generate.Request{Model: "gpt-image-2", Prompt: "a house"})
			if err == nil {
				err = got.Err()
			}
			if media.CodeOf(err) != media.CodeDiskFull {
				t.Errorf("Generate: %v, want %s", err, media.CodeDiskFull)
			}
			if n := len(h.openai.Tasks()); n != 0 {
				t.Errorf("%d calls were made without an intent", n)
			}
		})
	}
}

func TestLaterSavesWarnAndLoseNothing(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	full := media.Errorf(media.CodeDiskFull, "the disk is full")
	h.recorder.Fail = func(media.Output) error { return full }
	h.log.Fail = func(what string) error {
		if what == "slot" || what == "finish" {
			return full
		}
		return nil
	}
	got := h.must(t, generate.Request{Model: "gpt-image-2"})
	if got.Status != generate.StatusSucceeded || len(got.Outputs()) != 1 || len(got.Warnings) != 3 {
		t.Errorf("status %s, %d outputs, warnings %q", got.Status, len(got.Outputs()), got.Warnings)
	}
}

func TestPartialSuccessPerSlot(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	h.openai.OnStart = func(ctx context.Context, _ driver.Task, _ int) (driver.Update, error) {
		first := generatetest.Stored(ctx, t, h.codec, generatetest.PNG(70, 70, 1))
		third := generatetest.Stored(ctx, t, h.codec, generatetest.PNG(70, 70, 3))
		return driver.Update{Done: true, Items: []driver.Item{
			{Blob: &first, RevisedPrompt: "a very red house"},
			{Err: media.Errorf(media.CodeModerated, "no"), Safety: &generate.Safety{Blocked: true, Stage: "output", Categories: []string{"violence"}}},
			{Blob: &third},
			{},
		}}, nil
	}
	got := h.must(t, generate.Request{Model: "gpt-image-2", N: 5})
	var have []generate.Status
	for _, s := range got.Slots {
		have = append(have, s.Status)
	}
	want := []generate.Status{"succeeded", "moderated", "succeeded", "failed", "failed"}
	if got.Status != generate.StatusPartial || !slices.Equal(have, want) || got.Err() != nil {
		t.Errorf("%s %q, want partial %q", got.Status, have, want)
	}
	if s := got.Slots[1]; s.Safety == nil || s.Safety.Categories[0] != "violence" || s.Error.Code != media.CodeModerated {
		t.Errorf("refused slot %+v", s)
	}
	if e := got.Slots[4].Error; e.Code != media.CodeBadResponse || !strings.Contains(e.Message, "4 of 5") {
		t.Errorf("missing slot %+v", e)
	}
	if got.Slots[0].RevisedPrompt != "a very red house" || len(h.recorder.Records()) != 2 {
		t.Errorf("revised %q, %d records", got.Slots[0].RevisedPrompt, len(h.recorder.Records()))
	}
}

// TestWordsThatADriverDoesNotKnowAreWarnedOf: results with equal unknown words give one warning, whatever the provider.
func TestWordsThatADriverDoesNotKnowAreWarnedOf(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	h.openai.OnStart = func(ctx context.Context, _ driver.Task, _ int) (driver.Update, error) {
		var items []driver.Item
		for i := range 2 {
			b := generatetest.Stored(ctx, t, h.codec, generatetest.PNG(70, 70, uint8(i+1)))
			items = append(items, driver.Item{Blob: &b, Metadata: map[string]any{"unknown_words": []string{"cats", "sofa"}}})
		}
		return driver.Update{Done: true, Items: items}, nil
	}
	got := h.must(t, generate.Request{Model: "gpt-image-2", N: 2})
	if len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], "does not show them: cats, sofa") || got.Outputs()[1].Metadata["unknown_words"] == nil {
		t.Errorf("warnings %q, metadata %v", got.Warnings, got.Outputs()[1].Metadata)
	}
}

func TestItemsBesideAnErrorAreKeptAndNotRepeated(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	h.openai.OnStart = func(ctx context.Context, _ driver.Task, _ int) (driver.Update, error) {
		b := generatetest.Stored(ctx, t, h.codec, generatetest.PNG(70, 70, 1))
		return driver.Update{Done: true, Items: []driver.Item{{Blob: &b}}}, media.Errorf(media.CodeUnavailable, "cut off")
	}
	got := h.must(t, generate.Request{Model: "gpt-image-2", N: 2})
	if got.Status != generate.StatusPartial || len(h.openai.Tasks()) != 1 || got.Slots[1].Error.Code != media.CodeUnavailable {
		t.Errorf("status %s after %d calls, slot 2: %+v", got.Status, len(h.openai.Tasks()), got.Slots[1].Error)
	}
}

func TestMoreThanAskedIsKept(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	h.gemini.OnStart = func(ctx context.Context, _ driver.Task, n int) (driver.Update, error) {
		a := generatetest.Stored(ctx, t, h.codec, generatetest.PNG(70, 70, uint8(2*n)))
		b := generatetest.Stored(ctx, t, h.codec, generatetest.PNG(70, 70, uint8(2*n+1)))
		return driver.Update{Done: true, Items: []driver.Item{{Blob: &a}, {Blob: &b}}}, nil
	}
	got := h.must(t, generate.Request{Model: "Nano Banana 2.1", N: 2})
	if len(got.Slots) != 4 || len(h.recorder.Records()) != 4 || len(got.Warnings) != 1 || got.Status != generate.StatusSucceeded {
		t.Errorf("%s with %d slots, %d records, warnings %q", got.Status, len(got.Slots), len(h.recorder.Records()), got.Warnings)
	}
}

func TestRetry(t *testing.T) {
	t.Parallel()
	limited := media.Errorf(media.CodeRateLimited, "slow down")
	limited.RetryAfter = 9 * time.Second
	patient := media.Errorf(media.CodeRateLimited, "come back tomorrow")
	patient.RetryAfter = 24 * time.Hour
	billed := media.Errorf(media.CodeUnavailable, "the connection broke after the request")
	billed.Retryable = false
	down := media.Errorf(media.CodeUnavailable, "down")
	for _, c := range []struct {
		name  string
		err   error
		fails int
		calls int
		waits []time.Duration
		code  media.Code
	}{
		{"honours Retry-After", limited, 1, 2, []time.Duration{9 * time.Second}, ""},
		{"backs off, three attempts", down, 9, 3, []time.Duration{time.Second, 2 * time.Second}, media.CodeUnavailable},
		{"never repeats what may be billed", billed, 9, 1, nil, media.CodeUnavailable},
		{"does not wait for a day", patient, 9, 1, nil, media.CodeRateLimited},
		{"does not repeat a plain error", errors.New("odd"), 9, 1, nil, media.CodeInternal},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := build(t, nil)
			h.openai.OnStart = func(ctx context.Context, _ driver.Task, n int) (driver.Update, error) {
				if n <= c.fails {
					return driver.Update{}, c.err
				}
				b := generatetest.Stored(ctx, t, h.codec, generatetest.PNG(70, 70, 1))
				return driver.Update{Done: true, Items: []driver.Item{{Blob: &b}}}, nil
			}
			got := h.must(t, generate.Request{Model: "gpt-image-2"})
			if media.CodeOf(got.Err()) != c.code || len(h.openai.Tasks()) != c.calls {
				t.Errorf("%v after %d calls, want %q after %d", got.Err(), len(h.openai.Tasks()), c.code, c.calls)
			}
			if d := cmp.Diff(c.waits, h.journal.Slept()); d != "" {
				t.Errorf("waits (-want +got):\n%s", d)
			}
			if as := h.log.Attempts(); len(as) != c.calls || as[0].Key != as[len(as)-1].Key || as[0].ID == as[len(as)-1].ID && c.calls > 1 {
				t.Errorf("attempts %+v", as)
			}
		})
	}
}

// TestUnsettledCallsHaveNoKnownCost: if the answer to one of two calls was lost, the cost is unknown, not that of the
// other call.
func TestUnsettledCallsHaveNoKnownCost(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	h.gemini.OnStart = func(ctx context.Context, _ driver.Task, n int) (driver.Update, error) {
		if n == 1 {
			return driver.Update{}, media.Errorf(media.CodeUnavailable, "lost: %w", driver.ErrUnsettled)
		}
		b := generatetest.Stored(ctx, t, h.codec, generatetest.PNG(70, 70, 1))
		return driver.Update{Done: true, ReportedUSD: "0.1", Items: []driver.Item{{Blob: &b}}}, nil
	}
	got := h.must(t, generate.Request{Model: "Nano Banana 2.1", N: 2})
	if len(h.gemini.Tasks()) != 2 || got.Status != generate.StatusPartial || got.Usage.Unsettled != 1 || got.Cost.ReportedUSD != nil {
		t.Errorf("%d calls, %s, usage %+v, cost %+v", len(h.gemini.Tasks()), got.Status, got.Usage, got.Cost)
	}
}

func TestCancelKeepsWhatArrived(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	h := build(t, func(_ *testGateway, c *gateway.Config) { c.Concurrency = 1 })
	h.offline.OnStart = func(ctx context.Context, _ driver.Task, _ int) (driver.Update, error) {
		b := generatetest.Stored(ctx, t, h.codec, generatetest.PNG(70, 70, 1))
		stop()
		<-ctx.Done()
		return driver.Update{Done: true, Items: []driver.Item{{Blob: &b}}}, ctx.Err()
	}
	got, err := h.Generate(ctx, generate.Request{Model: "offline", Prompt: "a house", N: 12})
	if err != nil || got.Status != generate.StatusCancelled {
		t.Fatalf("Generate: %+v, %v; want cancelled", got, err)
	}
	if len(h.recorder.Records()) != 1 || len(h.offline.Tasks()) != 1 {
		t.Errorf("%d records after %d calls, want 1 after 1", len(h.recorder.Records()), len(h.offline.Tasks()))
	}
	kept := 0
	for _, s := range got.Slots {
		switch {
		case s.Output != nil:
			kept++
		case s.Status != generate.StatusCancelled || s.Error.Code != media.CodeCancelled:
			t.Errorf("slot %d: %s %+v", s.Index, s.Status, s.Error)
		}
	}
	if kept != 1 {
		t.Errorf("%d pictures kept, want 1", kept)
	}
	if e := h.log.Entries(); e[len(e)-1] != "finish cancelled" {
		t.Errorf("journal %q", e)
	}
}

func TestDeadlineOfOneCall(t *testing.T) {
	t.Parallel()
	row := catalog.Model{
		Name:         "Slow",
		Provider:     "openai",
		APIModel:     "slow-1",
		Modality:     media.ModalityImage,
		SettingRules: catalog.SettingRules{MaxN: 1},
		CallLimits:   catalog.CallLimits{TimeoutSeconds: 1},
		Methods:      []generate.Method{generate.MethodGenerate},
		Size:         catalog.SizeRule{Mode: "none"},
	}
	rows, err := catalog.New(row)
	if err != nil {
		t.Fatal(err)
	}
	h := build(t, func(_ *testGateway, c *gateway.Config) { c.Catalogue = rows })
	h.openai.OnStart = func(ctx context.Context, _ driver.Task, _ int) (driver.Update, error) {
		if d, ok := ctx.Deadline(); !ok || time.Until(d) > time.Second {
			t.Errorf("deadline %v", d)
		}
		return driver.Update{}, context.DeadlineExceeded
	}
	got := h.must(t, generate.Request{Model: "slow"})
	if e := got.Slots[0].Error; e.Code != media.CodeDeadline || !strings.Contains(e.Message, "may have been billed") || e.Retryable {
		t.Errorf("slot error %+v", e)
	}
}

func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	first := h.must(t, generate.Request{Model: "gpt-image-2", IdempotencyKey: "order-7"})
	again := h.must(t, generate.Request{Model: "gpt-image-2", IdempotencyKey: "order-7"})
	if len(h.openai.Tasks()) != 1 || again.Operation != first.Operation || again.Slots[0].Output.Digest != first.Slots[0].Output.Digest {
		t.Errorf("%d calls; operations %s and %s", len(h.openai.Tasks()), first.Operation, again.Operation)
	}
	if key := h.openai.Tasks()[0].Key; key != first.Operation+"-1" { // unique across owners
		t.Errorf("the provider's key is %q", key)
	}
}

func TestResultIsFreeOfMedia(t *testing.T) {
	t.Parallel()
	leak := strings.Repeat("iVBORw0KGgo", 24)
	h := build(t, nil)
	h.openai.OnStart = func(ctx context.Context, _ driver.Task, _ int) (driver.Update, error) {
		b := generatetest.Stored(ctx, t, h.codec, generatetest.PNG(70, 70, 1))
		return driver.Update{
				Done: true, Items: []driver.Item{
					{Blob: &b, RevisedPrompt: "look " + leak},
					{Err: media.Errorf(media.CodeInvalid, "bad %s", leak)},
				}, Metadata: map[string]any{"odd": leak, "deep": map[string]any{"list": []any{leak}}},
			},
			media.Errorf(media.CodeBadResponse, "answer was %s", leak)
	}
	got := h.must(t, generate.Request{Model: "gpt-image-2", Prompt: "like " + leak, N: 3, Options: map[string]map[string]any{"openai": {"user": leak}}})
	for name, v := range map[string]any{"result": got, "operation": h.log.Operation(got.Operation), "attempts": h.log.Attempts(), "records": h.recorder.Records()} {
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(raw), leak[:48]) {
			t.Errorf("%s leaks base64: %s", name, raw)
		}
	}
}

// TestCountsThatCannotBe: a provider's negative or absurdly high counts never reduce the cost.
func TestCountsThatCannotBe(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	h.gemini.OnStart = func(ctx context.Context, _ driver.Task, number int) (driver.Update, error) {
		return driver.Update{Done: true, Items: []driver.Item{h.picture(ctx, t, uint8(number))}, Usage: generate.Usage{InputTokens: -9, OutputTokens: math.MaxInt64}}, nil
	}
	got := h.must(t, generate.Request{Model: "Nano Banana Pro", N: 2})
	if got.Usage.InputTokens != 0 || got.Usage.OutputTokens != math.MaxInt64 {
		t.Errorf("usage %+v", got.Usage)
	}
	if c := got.Cost.ReportedUSD; c == nil || strings.HasPrefix(*c, "-") {
		t.Errorf("cost %v", c)
	}
}
