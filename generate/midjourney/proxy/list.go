package proxy

import (
	"context"
	"encoding/json"
	"net/http"

	"atelier/generate/internal/post"
	"atelier/media"
)

// Listed is a job as the list of all jobs has it.
type Listed struct {
	ID     post.Text `json:"id"`
	Status post.Text `json:"status"`
	// State is what came with the submission; proxies that drop it leave it empty.
	State post.Text `json:"state"`
}

// List gives the newest jobs that the proxy keeps: some keep all for a month, some tell a
// hundred, some forget them with every restart. Errors: media.CodeNotFound for a proxy
// without a list; an answer that is none says nothing: media.CodeUnavailable.
func (c *Client) List(ctx context.Context) ([]Listed, error) {
	if err := c.Ready(); err != nil {
		return nil, err
	}
	a, err := c.Get(ctx, c.Base+"/mj/task/list", c.Header())
	if err != nil {
		return nil, err
	}
	if a.Status == http.StatusNotFound || a.Status == http.StatusMethodNotAllowed {
		return nil, media.Errorf(media.CodeNotFound, "the Midjourney proxy has no list of its jobs")
	}
	var all []Listed
	if err := json.Unmarshal(a.Body, &all); err != nil || a.Status != http.StatusOK {
		return nil, media.Errorf(media.CodeUnavailable, "the Midjourney proxy answered with status %d and no list of jobs: it is asked again; check MIDJOURNEY_PROXY_URL and MIDJOURNEY_API_SECRET", a.Status)
	}
	return all, nil
}
