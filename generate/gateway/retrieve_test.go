package gateway_test

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/media"
)

// newSingleResultGateway returns the gateway and the driver of newListingGateway, with a model that gives one result
// per call, and the provider's list, which is empty until it is set.
func newSingleResultGateway(t *testing.T) (*testGateway, *listingDriver, *atomic.Pointer[[]driver.Handle]) {
	t.Helper()
	list := &atomic.Pointer[[]driver.Handle]{}
	h, l := newListingGateway(t, func(context.Context, int) ([]driver.Handle, error) {
		if all := list.Load(); all != nil {
			return slices.Clone(*all), nil
		}
		return nil, nil
	})
	h.Gateway = h.successor(t, func(c *gateway.Config) {
		c.Drivers[0], c.Catalogue, c.Budget = l, singleResultCatalogue(t), &generate.InMemory{}
	})
	return h, l, list
}

// singleResultCatalogue returns a catalogue with a model that gives one result per call.
func singleResultCatalogue(t *testing.T) *catalog.Catalog {
	t.Helper()
	rows, err := catalog.New(catalog.Model{
		Name:         "One",
		Provider:     "openai",
		APIModel:     "one-1",
		Modality:     media.ModalityImage,
		SettingRules: catalog.SettingRules{MaxN: 1},
		Methods:      []generate.Method{generate.MethodGenerate},
		Size:         catalog.SizeRule{Mode: "none"},
		Prices:       []catalog.Price{{Unit: "image", USD: "0.03"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// TestRetryFindsAbandonedTasks: a call that was given up because its provider did not list it is continued once it is
// listed; no call is repeated and nothing is paid twice.
func TestRetryFindsAbandonedTasks(t *testing.T) {
	t.Parallel()
	h, _, list := newSingleResultGateway(t)
	first := h.must(t, generate.Request{Model: "one", N: 1})
	again := gateway.RetryOptions{Operation: first.Operation}
	if first.Status != generate.StatusFailed || first.Usage.Unsettled != 1 {
		t.Fatalf("%+v", first)
	}
	if _, err := h.Retry(t.Context(), again); media.CodeOf(err) != media.CodeInvalid {
		t.Errorf("Retry without a list: %v", err)
	}
	there := handles("a")
	list.Store(&there)
	for range 2 { // the second time the result is there
		got, err := h.Retry(t.Context(), again)
		if err != nil || got.Status != generate.StatusSucceeded || got.Usage.Unsettled > 0 || got.Usage.Images != 1 {
			t.Fatalf("Retry: %+v, %v", got, err)
		}
		if usd := got.Cost.EstimatedUSD; usd == nil || *usd != "0.03" {
			t.Errorf("cost %+v", got.Cost)
		}
	}
	if a := h.log.Attempts(); len(a) != 1 || a[0].Task != there[0] || a[0].Status != generate.StatusSucceeded || len(h.openai.Tasks()) != 1 {
		t.Errorf("%d calls, attempts %+v", len(h.openai.Tasks()), a)
	}
	if n := len(h.recorder.Records()); n != 1 {
		t.Errorf("%d records", n)
	}
}

// TestRetryThatMayNotLook: if the list that would show a call cannot be read, the error says so, not only that no
// result is safe to retry. Results that are safe to retry are requested anyway.
func TestRetryThatMayNotLook(t *testing.T) {
	t.Parallel()
	h, l, _ := newSingleResultGateway(t)
	start := h.openai.OnStart
	h.openai.OnStart = func(ctx context.Context, task driver.Task, number int) (driver.Update, error) {
		if strings.HasSuffix(task.Key, "-2") {
			return driver.Update{}, media.Errorf(media.CodeQuotaExceeded, "no credit")
		}
		return start(ctx, task, number)
	}
	first := h.must(t, generate.Request{Model: "one", N: 2})
	again := gateway.RetryOptions{Operation: first.Operation}
	l.answer = func(context.Context, int) ([]driver.Handle, error) {
		return nil, media.Errorf(media.CodeUnauthorized, "the key was refused: check it")
	}
	h.openai.OnStart = func(ctx context.Context, _ driver.Task, _ int) (driver.Update, error) {
		return driver.Update{Done: true, Items: []driver.Item{h.picture(ctx, t, 1)}}, nil
	}
	got, err := h.Retry(t.Context(), again)
	if err != nil || got.Slots[1].Output == nil || got.Usage.Unsettled != 1 || !strings.Contains(strings.Join(got.Warnings, "\n"), "could not be looked for: the key was refused") {
		t.Fatalf("with a result that is safe to ask for: %+v, %v", got, err)
	}
	refused := func(what string, code media.Code, says string) {
		_, err := h.Retry(t.Context(), again)
		if media.CodeOf(err) != code || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "--all") {
			t.Errorf("%s: %v", what, err)
		}
	}
	refused("a refused key", media.CodeUnauthorized, "the key was refused: check it: ask again when that is mended")
	h.openai.NotReady = noKey("OPENAI_API_KEY")
	refused("no key", media.CodeMissingKey, "OPENAI_API_KEY")
	h.openai.NotReady = nil
	l.answer = func(context.Context, int) ([]driver.Handle, error) {
		return nil, media.Errorf(media.CodeNotFound, "there is no such address")
	}
	refused("no list", media.CodeInvalid, "nothing more that is safe")
}

// TestRetryFindsAndAsksAgain: of several results one is found, one is requested again, and one that may have been
// billed is left unchanged.
func TestRetryFindsAndAsksAgain(t *testing.T) {
	t.Parallel()
	h, l, list := newSingleResultGateway(t)
	quota := media.Errorf(media.CodeQuotaExceeded, "no credit")
	start := h.openai.OnStart
	h.openai.OnStart = func(ctx context.Context, task driver.Task, number int) (driver.Update, error) {
		if task.Key[len(task.Key)-2:] == "-2" {
			return driver.Update{}, quota
		}
		return start(ctx, task, number)
	}
	first := h.must(t, generate.Request{Model: "one", N: 3})
	if first.Status != generate.StatusFailed || first.Usage.Unsettled != 2 {
		t.Fatalf("%+v", first)
	}
	h.openai.OnStart = func(context.Context, driver.Task, int) (driver.Update, error) {
		return driver.Update{Task: driver.Handle{ID: "new"}}, nil
	}
	there := handles("a")
	list.Store(&there)
	l.answer = listOnly(l, first.Operation+"-3", there)
	got, err := h.Retry(t.Context(), gateway.RetryOptions{Operation: first.Operation})
	if err != nil || got.Status != generate.StatusPartial || got.Usage.Unsettled != 1 {
		t.Fatalf("Retry: %+v, %v", got, err)
	}
	for i, want := range []generate.Status{generate.StatusFailed, generate.StatusSucceeded, generate.StatusSucceeded} {
		if got.Slots[i].Status != want {
			t.Errorf("slot %d is %s: %v", i+1, got.Slots[i].Status, got.Slots[i].Error)
		}
	}
	tasks := h.openai.Tasks()
	if len(tasks) != 4 || tasks[3].Key != first.Operation+"-4" {
		t.Errorf("%d calls, the last one %q", len(tasks), tasks[len(tasks)-1].Key)
	}
	if _, err := h.Retry(t.Context(), gateway.RetryOptions{Operation: first.Operation}); media.CodeOf(err) != media.CodeInvalid {
		t.Errorf("Retry of the remaining results: %v", err)
	}
}

// listOnly returns a list function for the given tasks, as those that one call started.
func listOnly(l *listingDriver, key string, found []driver.Handle) func(context.Context, int) ([]driver.Handle, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.key = key
	return func(context.Context, int) ([]driver.Handle, error) { return found, nil }
}

// TestDeathWhileRetryFinds: whenever a process dies while it continues a found task, the next process ends the
// operation, and the task is not lost.
func TestDeathWhileRetryFinds(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"attempt", "slot", "finish"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			h, l, list := newSingleResultGateway(t)
			first := h.must(t, generate.Request{Model: "one"})
			there := handles("a")
			list.Store(&there)
			ctx, die := context.WithCancelCause(t.Context())
			defer die(nil)
			var dead atomic.Bool
			h.log.Fail = func(at string) error {
				if at == what {
					dead.Store(true)
					die(gateway.ErrHandedOver)
				}
				if dead.Load() {
					return media.Errorf(media.CodeInternal, "dead")
				}
				return nil
			}
			_, _ = h.Retry(ctx, gateway.RetryOptions{Operation: first.Operation})
			h.log.Fail = nil
			h.log.Orphan(first.Operation)
			next := h.successor(t, func(c *gateway.Config) { c.Drivers[0] = l })
			got, err := next.Resume(t.Context(), first.Operation)
			if err != nil {
				t.Fatalf("Resume: %v", err)
			}
			if got.Status != generate.StatusSucceeded {
				if got.Usage.Unsettled != 1 {
					t.Errorf("%+v", got)
				}
				got, err = next.Retry(t.Context(), gateway.RetryOptions{Operation: first.Operation})
			}
			if err != nil || got.Status != generate.StatusSucceeded || got.Usage.Unsettled > 0 || len(h.openai.Tasks()) != 1 {
				t.Errorf("%+v, %v, %d calls", got, err, len(h.openai.Tasks()))
			}
		})
	}
}

// TestRetryFindsWhatAnotherModelMade: a fallback model's call that was given up is found, and counts against the money
// reserved for it.
func TestRetryFindsWhatAnotherModelMade(t *testing.T) {
	t.Parallel()
	list := &atomic.Pointer[[]driver.Handle]{}
	l := &listingDriver{answer: func(context.Context, int) ([]driver.Handle, error) {
		if all := list.Load(); all != nil {
			return slices.Clone(*all), nil
		}
		return nil, nil
	}}
	h := build(t, func(h *testGateway, c *gateway.Config) {
		l.Driver, c.Drivers[1], c.Budget = h.gemini, l, &generate.InMemory{}
	})
	h.openai.OnStart = func(context.Context, driver.Task, int) (driver.Update, error) {
		return driver.Update{}, media.Errorf(media.CodeForbidden, "not today")
	}
	h.gemini.OnStart = func(context.Context, driver.Task, int) (driver.Update, error) {
		return driver.Update{}, lostAnswer()
	}
	h.gemini.OnPoll = func(ctx context.Context, _ driver.Task, to driver.Handle, n int) (driver.Update, error) {
		return driver.Update{Task: to, Done: true, Items: []driver.Item{h.picture(ctx, t, uint8(n))}}, nil
	}
	ctx := generate.WithAllowance(t.Context(), &generate.Allowance{Bounds: generate.Bounds{USD: "5"}})
	left := func() string { // the budget's message when too much is requested
		_, err := generate.InMemory{}.CheckRemaining(ctx, generate.Charge{USD: new("100")})
		return err.Error()
	}
	first, err := h.Generate(ctx, generate.Request{Model: "gpt-image-2", Prompt: "a house", Fallback: []string{"Nano Banana Pro"}})
	if err != nil || first.Status != generate.StatusFailed || first.Usage.Unsettled != 1 || first.Provider != "gemini" {
		t.Fatalf("%+v, %v", first, err)
	}
	paid := left()
	there := handles("a")
	list.Store(&there)
	for range 2 { // the second time the result is there
		got, err := h.Retry(ctx, gateway.RetryOptions{Operation: first.Operation})
		if err != nil || got.Status != generate.StatusSucceeded || got.Usage.Unsettled > 0 || got.Provider != "gemini" || len(got.Outputs()) != 1 {
			t.Fatalf("Retry: %+v, %v", got, err)
		}
	}
	if len(h.openai.Tasks()) != 1 || len(h.gemini.Tasks()) != 1 {
		t.Errorf("%d and %d calls", len(h.openai.Tasks()), len(h.gemini.Tasks()))
	}
	if now := left(); now != paid || strings.Contains(paid, "$5 left") {
		t.Errorf("%s, and then %s", paid, now)
	}
}
