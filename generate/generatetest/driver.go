package generatetest

import (
	"context"
	"slices"
	"sync"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/media"
)

// Driver is a scripted driver.Driver for tests of the code above drivers. It
// is safe for concurrent use.
type Driver struct {
	// Name is the provider's key; required.
	Name string
	// NotReady is what Ready returns.
	NotReady error
	// OnStart answers a call; number counts the calls of the driver, from 1. Nil returns
	// an update with Task.N pictures of Make.
	OnStart func(ctx context.Context, t driver.Task, number int) (driver.Update, error)
	// OnPoll answers a poll; number counts the polls of the driver, from 1. Nil returns
	// media.CodeUnsupported.
	OnPoll func(ctx context.Context, t driver.Task, h driver.Handle, number int) (driver.Update, error)
	// OnCancel answers a request to cancel a task; nil returns no error.
	OnCancel func(h driver.Handle) error
	// Make makes the blobs of calls without OnStart; required for those.
	Make func(ctx context.Context, t driver.Task, index int) (media.Blob, error)

	mu        sync.Mutex // guards all below
	tasks     []driver.Task
	polls     int
	cancelled []driver.Handle
}

var _ driver.Driver = (*Driver)(nil)

// Provider returns Name.
func (d *Driver) Provider() string { return d.Name }

// Ready returns NotReady.
func (d *Driver) Ready() error { return d.NotReady }

// Start records the task and answers by the script.
func (d *Driver) Start(ctx context.Context, t driver.Task) (driver.Update, error) {
	d.mu.Lock()
	d.tasks = append(d.tasks, t)
	number := len(d.tasks)
	d.mu.Unlock()
	if d.OnStart != nil {
		return d.OnStart(ctx, t, number)
	}
	u := driver.Update{Done: true, Progress: 1, Usage: generate.Usage{Calls: 1}}
	for i := range t.N {
		b, err := d.Make(ctx, t, i)
		if err != nil {
			return u, err
		}
		u.Items = append(u.Items, driver.Item{Blob: &b})
	}
	return u, nil
}

// Poll answers by the script.
func (d *Driver) Poll(ctx context.Context, t driver.Task, h driver.Handle) (driver.Update, error) {
	d.mu.Lock()
	d.polls++
	number := d.polls
	d.mu.Unlock()
	if d.OnPoll == nil {
		return driver.Update{}, media.Errorf(media.CodeUnsupported, "%s has nothing to poll", d.Name)
	}
	return d.OnPoll(ctx, t, h, number)
}

// Cancel records the task and answers by the script.
func (d *Driver) Cancel(_ context.Context, h driver.Handle) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cancelled = append(d.cancelled, h)
	if d.OnCancel == nil {
		return nil
	}
	return d.OnCancel(h)
}

// Tasks returns the calls so far in the order of their start.
func (d *Driver) Tasks() []driver.Task {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.tasks)
}

// Cancelled returns the cancelled tasks.
func (d *Driver) Cancelled() []driver.Handle {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.cancelled)
}
