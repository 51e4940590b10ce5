package midjourney

import (
	"context"
	"time"

	"atelier/generate"
)

var _ generate.Listed = (*Driver)(nil)

// waiting is the status of a job whose window nobody has confirmed: it is not worked on.
const waiting = "MODAL"

// Find looks through the proxy's list for jobs that came with the task's key. A job that
// waits for its window is left out. None says nothing: some proxies list their newest jobs
// only, forget them when they restart or drop what came with them, and a submission that
// is being translated or checked is not in the list yet.
func (d *Driver) Find(ctx context.Context, t generate.Task, _ time.Time) ([]generate.Handle, error) {
	all, err := d.client.List(ctx)
	if err != nil || t.Key == "" {
		return nil, err
	}
	var found []generate.Handle
	for _, j := range all {
		if string(j.State) == t.Key && j.ID != "" && j.Status != waiting {
			found = append(found, generate.Handle{ID: string(j.ID)})
		}
	}
	return found, nil
}
