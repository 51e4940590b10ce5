package generate_test

import (
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"atelier/generate"
	"atelier/generate/generatetest"
	"atelier/journal"
)

// hung never ends, whatever becomes of a context.
type hung struct{ closed chan struct{} }

func (h hung) Read([]byte) (int, error) {
	<-h.closed
	return 0, io.ErrClosedPipe
}

func (h hung) Close() error {
	close(h.closed)
	return nil
}

// TestEveryWaitHasAnEnd: a poll, a download or a stored preview that hangs ends by itself, and the wait of the
// operation is that of the clock: then the task is left, to be fetched later.
func TestEveryWaitHasAnEnd(t *testing.T) {
	t.Parallel()
	const wait, patience = 120 * time.Second, 4 * time.Minute // the wait, and a download that had begun
	finished := func(_ context.Context, at generate.Handle) (generate.Update, error) {
		return generate.Update{Task: at, Done: true, Items: []generate.Item{{URL: "z"}}}, nil
	}
	hang := func(ctx context.Context, at generate.Handle) (generate.Update, error) {
		<-ctx.Done()
		return generate.Update{Task: at}, ctx.Err()
	}
	for name, c := range map[string]struct {
		poll  func(ctx context.Context, number int, at generate.Handle) (generate.Update, error)
		fetch generate.Fetch
		want  generate.Status
		most  time.Duration
	}{
		"every poll hangs": {
			poll: func(ctx context.Context, _ int, at generate.Handle) (generate.Update, error) { return hang(ctx, at) },
			want: generate.StatusRunning, most: wait + time.Second,
		},
		"a driver ignores the end of its polls": {
			poll: func(_ context.Context, _ int, at generate.Handle) (generate.Update, error) {
				time.Sleep(time.Hour)
				return generate.Update{Task: at}, nil
			},
			want: generate.StatusRunning, most: wait + 2*time.Second,
		},
		"the first poll hangs": {
			poll: func(ctx context.Context, number int, at generate.Handle) (generate.Update, error) {
				if number == 1 {
					return hang(ctx, at)
				}
				return finished(ctx, at)
			},
			want: generate.StatusSucceeded, most: time.Minute,
		},
		"polls are slow": {
			poll: func(_ context.Context, _ int, at generate.Handle) (generate.Update, error) {
				time.Sleep(20 * time.Second)
				return generate.Update{Task: at}, nil
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
				return hung{make(chan struct{})}, "image/png", nil
			},
			want: generate.StatusRunning, most: patience,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := build(t, func(h *house, conf *generate.Config) {
					conf.Journal, conf.Fetch = journal.Memory{}, (&pictures{}).fetch
					if c.fetch != nil {
						conf.Fetch = c.fetch
					}
					h.openai.OnStart = func(context.Context, generate.Task, int) (generate.Update, error) {
						return generate.Update{Task: generate.Handle{ID: "t"}}, nil
					}
					h.openai.OnPoll = func(ctx context.Context, _ generate.Task, at generate.Handle, number int) (generate.Update, error) {
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
				time.Sleep(2 * time.Hour) // polls that were left to themselves come back
			})
		})
	}
}

// TestHungLinksWaitTogether: links of one answer that hang take the time of one, and those that do not hang are
// recorded.
func TestHungLinksWaitTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := build(t, func(h *house, c *generate.Config) {
			good := (&pictures{}).fetch
			c.Journal, c.Fetch = journal.Memory{}, func(ctx context.Context, link string) (io.ReadCloser, string, error) {
				if link == "good" {
					return good(ctx, link)
				}
				<-ctx.Done()
				return nil, "", ctx.Err()
			}
			h.openai.OnStart = func(context.Context, generate.Task, int) (generate.Update, error) {
				return generate.Update{Task: generate.Handle{ID: "t"}}, nil
			}
			h.openai.OnPoll = func(_ context.Context, _ generate.Task, at generate.Handle, _ int) (generate.Update, error) {
				return generate.Update{Task: at, Done: true, Items: []generate.Item{{URL: "1"}, {URL: "2"}, {URL: "3"}, {URL: "good"}}}, nil
			}
		})
		began := time.Now()
		got := h.must(t, generate.Request{Model: "GPT Image 2", N: 4})
		if took := time.Since(began); got.Status != generate.StatusRunning || got.Slots[3].Output == nil || took > 4*time.Minute+time.Second {
			t.Errorf("%s after %s: %+v", got.Status, took, got.Slots)
		}
	})
}

// TestNotificationHasAnEnd: who tells of a task is not kept waiting for it.
func TestNotificationHasAnEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := build(t, nil)
		h.openai.OnStart = func(context.Context, generate.Task, int) (generate.Update, error) {
			return generate.Update{Task: generate.Handle{ID: "7"}}, nil
		}
		h.openai.OnPoll = func(_ context.Context, _ generate.Task, at generate.Handle, _ int) (generate.Update, error) {
			return generate.Update{Task: at}, nil
		}
		first := h.must(t, generate.Request{Model: "GPT Image 2"})
		g := h.heir(t, func(c *generate.Config) {
			c.Drivers, c.Journal = []generate.Driver{toldOf{h.openai}}, journal.Memory{}
		})
		began := time.Now()
		if err := g.Notify(t.Context(), "openai", generate.Notification{}); err != nil || time.Since(began) > 40*time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		h.openai.OnPoll = func(ctx context.Context, _ generate.Task, at generate.Handle, _ int) (generate.Update, error) {
			return generate.Update{Task: at, Done: true, Items: []generate.Item{h.picture(ctx, t, 1)}}, nil
		}
		if end, err := h.heir(t, nil).Resume(t.Context(), first.Operation); err != nil || end.Status != generate.StatusSucceeded {
			t.Errorf("afterwards %+v, %v", end, err)
		}
	})
}

// toldOf is a driver that is told of its task and believes nothing.
type toldOf struct{ *generatetest.Driver }

func (toldOf) Notification(context.Context, generate.Notification) (generate.Update, error) {
	return generate.Update{Task: generate.Handle{ID: "7"}}, nil
}
