package gateway_test

import (
	"context"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/generate/generatetest"
	"atelier/journal"
	"atelier/media"
)

// blockedBody is a body whose Read blocks until Close, whatever happens to the context.
type blockedBody struct{ closed chan struct{} }

func (h blockedBody) Read([]byte) (int, error) {
	<-h.closed
	return 0, io.ErrClosedPipe
}

func (h blockedBody) Close() error {
	close(h.closed)
	return nil
}

// TestEveryWaitHasAnEnd: a poll or a download that hangs ends by itself, and the operation's wait is measured by the
// clock; then the task is left, to be fetched later.
func TestEveryWaitHasAnEnd(t *testing.T) {
	t.Parallel()
	const wait, patience = 120 * time.Second, 4 * time.Minute // the wait, and the limit of a download that has started
	finished := func(_ context.Context, at driver.Handle) (driver.Update, error) {
		return driver.Update{Task: at, Done: true, Items: []driver.Item{{URL: "z"}}}, nil
	}
	hang := func(ctx context.Context, at driver.Handle) (driver.Update, error) {
		<-ctx.Done()
		return driver.Update{Task: at}, ctx.Err()
	}
	for name, c := range map[string]struct {
		poll  func(ctx context.Context, number int, at driver.Handle) (driver.Update, error)
		fetch gateway.Fetch
		want  generate.Status
		most  time.Duration
		warns string // what a person reads about the polls
	}{
		"every poll hangs": {
			poll: func(ctx context.Context, _ int, at driver.Handle) (driver.Update, error) { return hang(ctx, at) },
			want: generate.StatusRunning, most: wait + time.Second, warns: "did not report the state of a task in time",
		},
		"every poll fails": {
			poll: func(_ context.Context, _ int, at driver.Handle) (driver.Update, error) {
				return driver.Update{Task: at}, media.Errorf(media.CodeUnavailable, "cannot reach the provider")
			},
			want: generate.StatusRunning, most: wait + time.Second, warns: "cannot reach the provider: the task may be finished",
		},
		"a driver ignores the end of its polls": {
			poll: func(_ context.Context, _ int, at driver.Handle) (driver.Update, error) {
				time.Sleep(time.Hour)
				return driver.Update{Task: at}, nil
			},
			want: generate.StatusRunning, most: wait + 2*time.Second, warns: "did not report the state of a task in time",
		},
		"the first poll hangs": {
			poll: func(ctx context.Context, number int, at driver.Handle) (driver.Update, error) {
				if number == 1 {
					return hang(ctx, at)
				}
				return finished(ctx, at)
			},
			want: generate.StatusSucceeded, most: time.Minute,
		},
		"polls are slow": {
			poll: func(_ context.Context, _ int, at driver.Handle) (driver.Update, error) {
				time.Sleep(20 * time.Second)
				return driver.Update{Task: at}, nil
			},
			want: generate.StatusRunning, most: wait + 2*time.Second,
		},
		"the download hangs": {
			fetch: func(ctx context.Context, _ string) (io.ReadCloser, string, error) {
				<-ctx.Done()
				return nil, "", ctx.Err()
			},
			want: generate.StatusRunning, most: patience,
		},
		"its body hangs": {
			fetch: func(context.Context, string) (io.ReadCloser, string, error) {
				return blockedBody{make(chan struct{})}, "image/png", nil
			},
			want: generate.StatusRunning, most: patience,
		},
		"the download ignores its end": {
			fetch: func(context.Context, string) (io.ReadCloser, string, error) {
				time.Sleep(time.Hour)
				return nil, "", io.ErrUnexpectedEOF
			},
			want: generate.StatusRunning, most: patience + 2*time.Second,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := build(t, func(h *testGateway, conf *gateway.Config) {
					conf.Journal, conf.Fetch = journal.Memory{}, (&linkServer{}).fetch
					if c.fetch != nil {
						conf.Fetch = c.fetch
					}
					h.openai.OnStart = func(context.Context, driver.Task, int) (driver.Update, error) {
						return driver.Update{Task: driver.Handle{ID: "t"}}, nil
					}
					h.openai.OnPoll = func(ctx context.Context, _ driver.Task, at driver.Handle, number int) (driver.Update, error) {
						if c.poll == nil {
							return finished(ctx, at)
						}
						return c.poll(ctx, number, at)
					}
				})
				began := time.Now()
				got := h.must(t, generate.Request{Model: "GPT Image 2"})
				if took := time.Since(began); got.Status != c.want || took > c.most {
					t.Errorf("%s after %s: %+v", got.Status, took, got.Slots)
				}
				if told := strings.Join(got.Warnings, "\n"); c.poll != nil && (c.warns == "") != (told == "") || !strings.Contains(told, c.warns) {
					t.Errorf("warnings %q, want %q", told, c.warns)
				}
				time.Sleep(2 * time.Hour) // abandoned polls return
			})
		})
	}
}

// TestADownloadThatComesLate: a download that ignores its timeout is given up, but its result is used if it arrives
// while the link is retried.
func TestADownloadThatComesLate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var tries atomic.Int32
		h := build(t, func(h *testGateway, c *gateway.Config) {
			c.Journal, c.Fetch = journal.Memory{}, func(ctx context.Context, link string) (io.ReadCloser, string, error) {
				if tries.Add(1) > 1 {
					return nil, "", media.Errorf(media.CodeUnavailable, "the host is gone")
				}
				time.Sleep(125 * time.Second)
				return (&linkServer{}).fetch(ctx, link)
			}
			h.openai.OnStart = func(context.Context, driver.Task, int) (driver.Update, error) {
				return driver.Update{Done: true, Items: []driver.Item{{URL: "z"}}}, nil
			}
		})
		began := time.Now()
		got := h.must(t, generate.Request{Model: "GPT Image 2"})
		if took := time.Since(began); got.Status != generate.StatusSucceeded || len(got.Outputs()) != 1 || tries.Load() < 2 || took > 3*time.Minute {
			t.Errorf("%s after %s and %d tries: %+v", got.Status, took, tries.Load(), got.Slots)
		}
		if slot := h.log.Operation(got.Operation); slot.FinishedAt.IsZero() || len(h.openai.Tasks()) != 1 {
			t.Errorf("%+v, %d calls", slot, len(h.openai.Tasks()))
		}
	})
}

// TestHungLinksWaitTogether: the hanging links of one answer together take the time of one, and the results of the
// others are recorded.
func TestHungLinksWaitTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := build(t, func(h *testGateway, c *gateway.Config) {
			good := (&linkServer{}).fetch
			c.Journal, c.Fetch = journal.Memory{}, func(ctx context.Context, link string) (io.ReadCloser, string, error) {
				if link == "good" {
					return good(ctx, link)
				}
				<-ctx.Done()
				return nil, "", ctx.Err()
			}
			h.openai.OnStart = func(context.Context, driver.Task, int) (driver.Update, error) {
				return driver.Update{Task: driver.Handle{ID: "t"}}, nil
			}
			h.openai.OnPoll = func(_ context.Context, _ driver.Task, at driver.Handle, _ int) (driver.Update, error) {
				return driver.Update{Task: at, Done: true, Items: []driver.Item{{URL: "1"}, {URL: "2"}, {URL: "3"}, {URL: "good"}}}, nil
			}
		})
		began := time.Now()
		got := h.must(t, generate.Request{Model: "GPT Image 2", N: 4})
		if took := time.Since(began); got.Status != generate.StatusRunning || got.Slots[3].Output == nil || took > 4*time.Minute+time.Second {
			t.Errorf("%s after %s: %+v", got.Status, took, got.Slots)
		}
	})
}

// TestNotificationHasAnEnd: the sender of a notification does not have to wait for the task.
func TestNotificationHasAnEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := build(t, nil)
		h.openai.OnStart = func(context.Context, driver.Task, int) (driver.Update, error) {
			return driver.Update{Task: driver.Handle{ID: "7"}}, nil
		}
		h.openai.OnPoll = func(_ context.Context, _ driver.Task, at driver.Handle, _ int) (driver.Update, error) {
			return driver.Update{Task: at}, nil
		}
		first := h.must(t, generate.Request{Model: "GPT Image 2"})
		g := h.successor(t, func(c *gateway.Config) {
			c.Drivers, c.Journal = []driver.Driver{notifiedDriver{h.openai}}, journal.Memory{}
		})
		began := time.Now()
		if err := g.Notify(t.Context(), "openai", driver.Notification{}); err != nil || time.Since(began) > 40*time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		h.openai.OnPoll = func(ctx context.Context, _ driver.Task, at driver.Handle, _ int) (driver.Update, error) {
			return driver.Update{Task: at, Done: true, Items: []driver.Item{h.picture(ctx, t, 1)}}, nil
		}
		if end, err := h.successor(t, nil).Resume(t.Context(), first.Operation); err != nil || end.Status != generate.StatusSucceeded {
			t.Errorf("afterwards %+v, %v", end, err)
		}
	})
}

// notifiedDriver is a driver that receives notifications for its task and trusts none.
type notifiedDriver struct{ *generatetest.Driver }

func (notifiedDriver) Notification(context.Context, driver.Notification) (driver.Update, error) {
	return driver.Update{Task: driver.Handle{ID: "7"}}, nil
}
