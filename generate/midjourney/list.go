package midjourney

import (
	"context"

	"atelier/generate/driver"
)

var _ driver.Listed = (*Driver)(nil)

// waiting is the status of a job whose window nobody has confirmed: it is not worked on.
const waiting = "MODAL"

// ListsKeys is true: they come back as the state of a job.
func (d *Driver) ListsKeys() bool { return true }

// List gives the jobs that the proxy tells of: some tell their newest only, forget them when
// they restart or drop what came with them, and a submission that is being translated or
// checked is not among them yet.
func (d *Driver) List(ctx context.Context, _ string) (l driver.Listing, err error) {
	all, err := d.client.List(ctx)
	for _, j := range all {
		l.Tasks = append(l.Tasks, driver.ListedTask{Task: driver.Handle{ID: string(j.ID)}, Key: string(j.State), Waits: j.Status == waiting})
	}
	return l, err
}
