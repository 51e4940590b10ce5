package gateway_test

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/generate/generatetest"
	"atelier/generate/operation"
	"atelier/media"
)

// listingDriver is a driver whose provider lists its tasks.
type listingDriver struct {
	*generatetest.Driver
	// answer returns the list; number counts the look-ups from 1.
	answer func(ctx context.Context, number int) ([]driver.Handle, error)

	mu    sync.Mutex // guards the fields below
	count int
	key   string // key of all listed tasks, or empty for the first call's
}

var _ driver.Listed = (*listingDriver)(nil)

func (l *listingDriver) ListsKeys() bool { return true }

// List returns the answer as tasks of the first call.
func (l *listingDriver) List(ctx context.Context, _ string) (driver.Listing, error) {
	l.mu.Lock()
	l.count++
	number, key := l.count, l.key
	l.mu.Unlock()
	all, err := l.answer(ctx, number)
	var out driver.Listing
	for _, h := range all {
		made := day(11, 21)
		if h.ID == "old" {
			made = made.Add(-time.Hour)
		}
		out.Tasks = append(out.Tasks, driver.ListedTask{Task: h, Key: cmp.Or(key, l.Tasks()[0].Key), CreatedAt: made})
	}
	return out, err
}

func (l *listingDriver) listCalls() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.count
}

// lostAnswer returns a driver's error for a call that was sent and not answered.
func lostAnswer() error {
	e := media.Errorf(media.CodeUnavailable, "the connection was lost")
	e.Cause = driver.ErrUnsettled
	return e
}

// newListingGateway returns a gateway whose provider loses the answer to every call and finishes the tasks that are
// polled.
func newListingGateway(t *testing.T, answer func(ctx context.Context, number int) ([]driver.Handle, error)) (*testGateway, *listingDriver) {
	t.Helper()
	l := &listingDriver{answer: answer}
	h := build(t, func(h *testGateway, c *gateway.Config) {
		l.Driver = h.openai
		c.Drivers[0] = l
	})
	h.openai.OnStart = func(context.Context, driver.Task, int) (driver.Update, error) {
		return driver.Update{}, lostAnswer()
	}
	h.openai.OnPoll = func(ctx context.Context, _ driver.Task, to driver.Handle, _ int) (driver.Update, error) {
		b := generatetest.Stored(ctx, t, h.codec, generatetest.PNG(70, 70, to.ID[0]))
		return driver.Update{Task: to, Done: true, Items: []driver.Item{{Blob: &b}}}, nil
	}
	return h, l
}

func handles(ids ...string) []driver.Handle {
	var all []driver.Handle
	for _, id := range ids {
		all = append(all, driver.Handle{ID: id})
	}
	return all
}

// TestLostAnswerIsLookedUp: whatever the provider's list says, the call is made once; only a task that can belong to
// no other call is taken.
func TestLostAnswerIsLookedUp(t *testing.T) {
	t.Parallel()
	away, none := media.Errorf(media.CodeUnavailable, "away"), media.Errorf(media.CodeUnsupported, "no list")
	for name, c := range map[string]struct {
		lists [][]driver.Handle
		errs  []error // returned before the lists
		looks int
		found bool
	}{
		"at once":                     {lists: [][]driver.Handle{handles("a")}, looks: 1, found: true},
		"when the request is through": {lists: [][]driver.Handle{nil, nil, handles("a")}, looks: 3, found: true},
		"never":                       {lists: [][]driver.Handle{nil, nil, nil, handles("a")}, looks: 3},
		"when the list is back":       {errs: []error{away, away, away, away, away}, lists: [][]driver.Handle{handles("a")}, looks: 6, found: true},
		"after a bug":                 {errs: []error{errBug}, lists: [][]driver.Handle{handles("a")}, looks: 2, found: true},
		"not while it is away":        {errs: slices.Repeat([]error{away}, 20), looks: 9},
		"not without a list":          {errs: []error{none}, lists: [][]driver.Handle{handles("a")}, looks: 1},
		"not of two":                  {lists: slices.Repeat([][]driver.Handle{handles("a", "b")}, 3), looks: 3},
		"not another call's":          {lists: slices.Repeat([][]driver.Handle{handles("known")}, 3), looks: 3},
		"not of what is no name":      {lists: slices.Repeat([][]driver.Handle{handles("", strings.Repeat("iVBORw0KGgo", 24))}, 3), looks: 3},
		"not of before the call":      {lists: slices.Repeat([][]driver.Handle{handles("old")}, 3), looks: 3},
		"beside another call's":       {lists: [][]driver.Handle{handles("known", "a")}, looks: 1, found: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, l := newListingGateway(t, func(_ context.Context, number int) ([]driver.Handle, error) {
				if number <= len(c.errs) {
					if errors.Is(c.errs[number-1], errBug) {
						panic(errBug)
					}
					return nil, c.errs[number-1]
				}
				return c.lists[number-len(c.errs)-1], nil
			})
			if err := h.log.Attempt(t.Context(), operation.Attempt{ID: "other", Operation: "another", Provider: "openai", Task: driver.Handle{ID: "known"}}); err != nil {
				t.Fatal(err)
			}
			got := h.must(t, generate.Request{Model: "gpt-image-2"})
			a := h.log.Attempts()[1]
			want, task, unsettled := generate.StatusSucceeded, handles("a")[0], 0
			if !c.found {
				want, task, unsettled = generate.StatusFailed, driver.Handle{}, 1
			}
			if got.Status != want || got.Usage.Unsettled != unsettled || a.Task != task || a.Status != want {
				t.Errorf("%s, %d unsettled, %v; the attempt is %+v", got.Status, got.Usage.Unsettled, got.Err(), a)
			}
			if len(h.openai.Tasks()) != 1 || l.listCalls() != c.looks {
				t.Errorf("%d calls, %d looks, want 1 and %d", len(h.openai.Tasks()), l.listCalls(), c.looks)
			}
			if h.openai.Tasks()[0].Key != a.Key {
				t.Errorf("called with %q; the attempt is %+v", h.openai.Tasks()[0].Key, a)
			}
		})
	}
}

// TestListThatIsRefused: a list that refuses access says nothing about the task, which may exist and be paid for: the
// call is left pending and found once access is granted. Without a log the call fails.
func TestListThatIsRefused(t *testing.T) {
	t.Parallel()
	for _, code := range []media.Code{media.CodeUnauthorized, media.CodeForbidden, media.CodeQuotaExceeded} {
		t.Run(string(code), func(t *testing.T) {
			t.Parallel()
			shut := media.Errorf(code, "the key was refused")
			h, l := newListingGateway(t, func(_ context.Context, number int) ([]driver.Handle, error) {
				if number < 2 {
					return nil, nil
				}
				return nil, shut
			})
			left := h.must(t, generate.Request{Model: "gpt-image-2", Fallback: []string{"Nano Banana Pro"}})
			if left.Status != generate.StatusRunning || left.Err() != nil || left.Usage.Unsettled > 0 || l.listCalls() != 2 || len(h.gemini.Tasks()) > 0 {
				t.Fatalf("%+v, %d looks", left, l.listCalls())
			}
			if metadata := strings.Join(left.Warnings, "\n"); !strings.Contains(metadata, "the key was refused: ") || !strings.Contains(metadata, "left to be looked for") {
				t.Errorf("warnings %q", metadata)
			}
			next := h.successor(t, func(c *gateway.Config) { c.Drivers[0] = l })
			if still, err := next.Resume(t.Context(), left.Operation); err != nil || still.Status != generate.StatusRunning || l.listCalls() != 3 {
				t.Errorf("while it is refused: %+v, %v, %d looks", still, err, l.listCalls())
			}
			l.answer = func(context.Context, int) ([]driver.Handle, error) { return handles("a"), nil }
			got, err := next.Resume(t.Context(), left.Operation)
			if err != nil || got.Status != generate.StatusSucceeded || got.Usage.Unsettled > 0 || len(h.openai.Tasks()) != 1 || len(got.Warnings) > 0 {
				t.Errorf("when it is let in: %+v, %v, %d calls", got, err, len(h.openai.Tasks()))
			}
			l.answer = func(context.Context, int) ([]driver.Handle, error) { return nil, shut }
			h.Gateway = h.successor(t, func(c *gateway.Config) { c.Drivers[0], c.Operations = l, operation.NopLog{} })
			if lost := h.must(t, generate.Request{Model: "gpt-image-2"}); lost.Status != generate.StatusFailed || lost.Usage.Unsettled != 1 {
				t.Errorf("without a log: %+v", lost)
			}
		})
	}
}

// TestAbandonedDuringTheLookup: a process that shuts down during a call, or while it looks for the call's task, leaves
// the call to the next process, which finds the task.
func TestAbandonedDuringTheLookup(t *testing.T) {
	t.Parallel()
	for _, during := range []string{"the call", "the look", "the pause"} {
		t.Run(during, func(t *testing.T) {
			t.Parallel()
			ctx, leave := context.WithCancelCause(t.Context())
			defer leave(nil)
			stop := func(at string) {
				if at == during {
					leave(gateway.ErrHandedOver)
				}
			}
			h, l := newListingGateway(t, func(ctx context.Context, _ int) ([]driver.Handle, error) {
				stop("the look")
				return nil, ctx.Err()
			})
			h.openai.OnStart = func(context.Context, driver.Task, int) (driver.Update, error) {
				stop("the call")
				return driver.Update{}, lostAnswer()
			}
			h.journal.OnSleep = func(ctx context.Context, _ time.Duration) error {
				stop("the pause")
				return ctx.Err()
			}
			left, err := h.Generate(ctx, generate.Request{Model: "gpt-image-2", Prompt: "a house"})
			if err != nil || left.Status != generate.StatusRunning {
				t.Fatalf("remaining %+v, %v", left, err)
			}
			if a := h.log.Attempts(); len(a) != 1 || a[0].Status != generate.StatusSubmitted || !a[0].FinishedAt.IsZero() {
				t.Errorf("remaining attempts %+v", a)
			}
			h.log.Orphan(left.Operation)
			l.answer = func(context.Context, int) ([]driver.Handle, error) { return handles("a"), nil }
			got, err := h.successor(t, func(c *gateway.Config) { c.Drivers[0] = l }).Resume(t.Context(), left.Operation)
			if err != nil || got.Status != generate.StatusSucceeded || got.Usage.Unsettled > 0 || len(h.openai.Tasks()) != 1 {
				t.Errorf("%+v, %v, %d calls", got, err, len(h.openai.Tasks()))
			}
		})
	}
}

// TestCancelledDuringTheLookup: a caller's cancellation ends the operation, which reports that the call may be
// billed.
func TestCancelledDuringTheLookup(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	h, l := newListingGateway(t, func(ctx context.Context, _ int) ([]driver.Handle, error) {
		stop()
		return nil, ctx.Err()
	})
	got, err := h.Generate(ctx, generate.Request{Model: "gpt-image-2", Prompt: "a house"})
	if err != nil || got.Status != generate.StatusFailed || got.Usage.Unsettled != 1 || l.listCalls() != 1 {
		t.Errorf("%+v, %v, %d looks", got, err, l.listCalls())
	}
}

// TestLogThatFailsTakesNoTask: if the log cannot say which tasks are known, no task is taken.
func TestLogThatFailsTakesNoTask(t *testing.T) {
	t.Parallel()
	l := &listingDriver{answer: func(context.Context, int) ([]driver.Handle, error) { return handles("a"), nil }}
	h := build(t, func(h *testGateway, c *gateway.Config) {
		l.Driver, c.Drivers[0] = h.openai, l
		c.Operations = logWithoutTasks{h.log}
	})
	h.openai.OnStart = func(context.Context, driver.Task, int) (driver.Update, error) {
		return driver.Update{}, lostAnswer()
	}
	if got := h.must(t, generate.Request{Model: "gpt-image-2"}); got.Status != generate.StatusFailed || got.Usage.Unsettled != 1 {
		t.Errorf("%+v", got)
	}
}

// logWithoutTasks is a log that cannot find operations by their tasks.
type logWithoutTasks struct{ *generatetest.Log }

func (logWithoutTasks) OperationOfTask(context.Context, string, string) (string, media.Scope, error) {
	return "", media.Scope{}, errors.New("the disk is gone")
}
