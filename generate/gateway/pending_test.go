package gateway_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
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

// linkHost is the host that results are fetched from.
type linkHost struct {
	mu    sync.Mutex              // guards the fields below
	why   func(link string) error // nil while the host is up
	asked []string
}

func (d *linkHost) set(reason func(link string) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.why = reason
}

func (d *linkHost) fetch(_ context.Context, link string) (io.ReadCloser, string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked = append(d.asked, link)
	if d.why != nil {
		if err := d.why(link); err != nil {
			return nil, "", err
		}
	}
	name, _, _ := strings.Cut(link, "?")
	return io.NopCloser(bytes.NewReader(generatetest.PNG(70, 70, name[len(name)-1]))), "image/png", nil
}

func unreachable(string) error { return media.Errorf(media.CodeUnavailable, "connection refused") }

// newLinkGateway returns a gateway whose provider's tasks have three results by link; every poll returns new links.
func newLinkGateway(t *testing.T, change func(*testGateway, *gateway.Config)) (*testGateway, *linkHost) {
	t.Helper()
	d := &linkHost{}
	h := build(t, func(h *testGateway, c *gateway.Config) {
		c.Fetch = d.fetch
		h.openai.OnStart = func(context.Context, driver.Task, int) (driver.Update, error) {
			return driver.Update{Task: driver.Handle{ID: "t"}, ReportedUSD: "0.3"}, nil
		}
		h.openai.OnPoll = func(_ context.Context, _ driver.Task, at driver.Handle, number int) (driver.Update, error) {
			u := driver.Update{Task: at, Done: true}
			for i := range 3 {
				u.Items = append(u.Items, driver.Item{URL: fmt.Sprintf("%d?%d", i, number)})
			}
			return u, nil
		}
		if change != nil {
			change(h, c)
		}
	})
	return h, d
}

func (h *testGateway) nextProcess(t *testing.T, d *linkHost) *gateway.Gateway {
	t.Helper()
	return h.successor(t, func(c *gateway.Config) { c.Fetch = d.fetch })
}

// TestDeliveryHostIsDownForAWhile: during the wait a result is fetched repeatedly, and a refused link is requested
// anew; no result is generated twice.
func TestDeliveryHostIsDownForAWhile(t *testing.T) {
	t.Parallel()
	for name, reason := range map[string]func(number int, link string) error{
		"down": func(number int, _ string) error {
			if number < 30 {
				return unreachable("")
			}
			return nil
		},
		"one link": func(number int, link string) error {
			if number < 12 && strings.HasPrefix(link, "1?") {
				return media.Errorf(media.CodeRateLimited, "too many requests")
			}
			return nil
		},
		"slow": func(number int, _ string) error {
			if number < 6 {
				return media.Errorf(media.CodeDeadline, "it took longer than a minute")
			}
			return nil
		},
		"links that are refused": func(_ int, link string) error {
			if !strings.HasSuffix(link, "?3") {
				return media.Errorf(media.CodeForbidden, "the signature is over")
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, d := newLinkGateway(t, nil)
			number := 0
			d.set(func(link string) error { number++; return reason(number, link) })
			got := h.must(t, generate.Request{Model: "GPT Image 2", N: 3})
			if got.Status != generate.StatusSucceeded || len(got.Outputs()) != 3 || len(h.openai.Tasks()) != 1 || len(h.recorder.Records()) != 3 {
				t.Fatalf("%s: %v, %d results by %d calls", got.Status, got.Slots, len(got.Outputs()), len(h.openai.Tasks()))
			}
			for i, o := range got.Outputs() {
				if o.Digest != media.DigestOf(generatetest.PNG(70, 70, '0'+byte(i))) {
					t.Errorf("result %d is another one", i+1)
				}
			}
		})
	}
}

// TestDeliveryHostStaysDown: the operation keeps the results that arrived and says why others are missing; a later
// process fetches the rest by Resume, PollOnce or Retry, without a new call.
func TestDeliveryHostStaysDown(t *testing.T) {
	t.Parallel()
	for name, later := range map[string]func(context.Context, *gateway.Gateway, string) (*generate.Result, error){
		"resume": func(ctx context.Context, g *gateway.Gateway, op string) (*generate.Result, error) {
			return g.Resume(ctx, op)
		},
		"a look": func(ctx context.Context, g *gateway.Gateway, op string) (*generate.Result, error) {
			return g.PollOnce(ctx, op)
		},
		"retry": func(ctx context.Context, g *gateway.Gateway, op string) (*generate.Result, error) {
			return g.Retry(ctx, gateway.RetryOptions{Operation: op})
		},
	} {
		for what, code := range map[string]media.Code{"down": media.CodeUnavailable, "refused": media.CodeNotFound} {
			t.Run(name+", "+what, func(t *testing.T) {
				t.Parallel()
				h, d := newLinkGateway(t, nil)
				d.set(func(link string) error {
					if strings.HasPrefix(link, "1?") {
						return media.Errorf(code, "not now")
					}
					return nil
				})
				got := h.must(t, generate.Request{Model: "GPT Image 2", N: 3, Fallback: []string{"Nano Banana Pro"}})
				if got.Status != generate.StatusRunning || len(got.Outputs()) != 2 || got.Err() != nil || got.Slots[1].Error == nil || len(h.gemini.Tasks()) > 0 {
					t.Fatalf("%s: %+v", got.Status, got.Slots)
				}
				if metadata := strings.Join(got.Warnings, "\n"); !strings.Contains(metadata, "paid for") || !strings.Contains(metadata, "not now") {
					t.Errorf("warnings %q", metadata)
				}
				if still, err := later(t.Context(), h.nextProcess(t, d), got.Operation); err != nil || still.Status != generate.StatusRunning {
					t.Fatalf("while it is down: %+v, %v", still, err)
				}
				d.set(nil)
				end, err := later(t.Context(), h.nextProcess(t, d), got.Operation)
				if err != nil || end.Status != generate.StatusSucceeded || len(h.openai.Tasks()) != 1 || len(h.recorder.Records()) != 3 || end.Usage.Calls != 1 {
					t.Errorf("%+v, %v; %d calls, %d records", end, err, len(h.openai.Tasks()), len(h.recorder.Records()))
				}
			})
		}
	}
}

// TestLinkThatIsDeadByItsAge: a refused link is given up when no link of the task can still be valid.
func TestLinkThatIsDeadByItsAge(t *testing.T) {
	t.Parallel()
	now := day(11, 21)
	h, d := newLinkGateway(t, nil)
	d.set(func(string) error { return media.Errorf(media.CodeNotFound, "gone") })
	got := h.must(t, generate.Request{Model: "GPT Image 2", N: 1})
	if got.Status != generate.StatusRunning {
		t.Fatalf("at once: %+v", got)
	}
	for _, c := range []struct {
		day    int
		status generate.Status
	}{{21, generate.StatusRunning}, {23, generate.StatusFailed}} {
		now = day(11, c.day)
		g := h.successor(t, func(conf *gateway.Config) { conf.Fetch, conf.Now = d.fetch, func() time.Time { return now } })
		end, err := g.PollOnce(t.Context(), got.Operation)
		if err != nil || end.Status != c.status {
			t.Errorf("on day %d: %+v, %v", c.day, end, err)
		}
	}
	if _, err := h.Retry(t.Context(), gateway.RetryOptions{Operation: got.Operation}); media.CodeOf(err) != media.CodeInvalid || len(h.openai.Tasks()) != 1 {
		t.Errorf("retry: %v, %d calls", err, len(h.openai.Tasks()))
	}
}

// TestRetryFetchesFirst: a finished task that was lost because nobody could continue it is fetched; while its provider
// cannot be reached, nothing is generated again unless explicitly requested.
func TestRetryFetchesFirst(t *testing.T) {
	t.Parallel()
	h, d := newLinkGateway(t, func(h *testGateway, c *gateway.Config) {
		c.Operations = struct{ operation.Log }{h.log} // cannot be resumed
	})
	d.set(func(link string) error {
		if strings.HasPrefix(link, "1?") {
			return unreachable("")
		}
		return nil
	})
	got := h.must(t, generate.Request{Model: "GPT Image 2", N: 3})
	if e := got.Slots[1].Error; got.Status != generate.StatusPartial || e == nil || e.Retryable || !strings.Contains(e.Message, "may be billed; atelier operations retry "+got.Operation+" looks for it there") {
		t.Fatalf("%+v", got)
	}
	again := gateway.RetryOptions{Operation: got.Operation}
	poll := h.openai.OnPoll
	h.openai.OnPoll = func(context.Context, driver.Task, driver.Handle, int) (driver.Update, error) {
		return driver.Update{}, media.Errorf(media.CodeUnavailable, "the provider is down")
	}
	if _, err := h.nextProcess(t, d).Retry(t.Context(), again); media.CodeOf(err) != media.CodeUnavailable || !strings.Contains(err.Error(), "--all") {
		t.Errorf("while it cannot be asked: %v", err)
	}
	h.openai.OnPoll = poll
	d.set(nil)
	end, err := h.nextProcess(t, d).Retry(t.Context(), again)
	if err != nil || end.Status != generate.StatusSucceeded || len(end.Outputs()) != 3 || len(h.openai.Tasks()) != 1 {
		t.Errorf("%+v, %v; %d calls", end, err, len(h.openai.Tasks()))
	}
}

// TestLinksOfAnswersAtOnce: without a task to poll, the link is tried during the wait; then the result is lost, and is
// generated again only on explicit request.
func TestLinksOfAnswersAtOnce(t *testing.T) {
	t.Parallel()
	h, d := newLinkGateway(t, func(h *testGateway, _ *gateway.Config) {
		h.openai.OnStart = func(context.Context, driver.Task, int) (driver.Update, error) {
			return driver.Update{Done: true, Items: []driver.Item{{URL: "1"}}}, nil
		}
	})
	d.set(unreachable)
	got := h.must(t, generate.Request{Model: "GPT Image 2"})
	if e := got.Slots[0].Error; got.Status != generate.StatusFailed || e.Code != media.CodeUnavailable || e.Retryable || len(d.asked) < 10 {
		t.Errorf("%+v; fetched %d times", got, len(d.asked))
	}
	if _, err := h.Retry(t.Context(), gateway.RetryOptions{Operation: got.Operation}); media.CodeOf(err) != media.CodeInvalid || len(h.openai.Tasks()) != 1 {
		t.Errorf("retry: %v, %d calls", err, len(h.openai.Tasks()))
	}
}
