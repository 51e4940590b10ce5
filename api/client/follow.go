package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"atelier/api"
	"atelier/media"
)

// maxPause is the maximum pause before a lost stream is resumed.
const maxPause = 15 * time.Second

// Follow resumes a lost stream with Last-Event-ID, until ctx or the loop ends, or the server rejects the request. If the
// server cannot be reached at first, it returns an error.
func (c events) Follow(ctx context.Context, run string, after int64) iter.Seq2[api.Event, error] {
	path := "/api/events"
	if run != "" {
		path = at("/api/runs/", run, "/events")
	}
	return func(yield func(api.Event, error) bool) {
		for began, wait := false, c.wait; ; wait = min(2*wait, maxPause) {
			open, more, err := c.stream(ctx, path, &after, func(e api.Event) bool { return yield(e, nil) })
			if began = began || open; open {
				wait = c.wait
			}
			switch {
			case !more:
				return
			case err != nil && (!began || !media.Retryable(err)):
				yield(api.Event{}, err)
				return
			case !pause(ctx, wait):
				yield(api.Event{}, broken(ctx, "GET "+path, ctx.Err()))
				return
			}
		}
	}
}

// stream returns the events of one connection and stores the position at which to resume. open reports whether the
// connection was established, more whether the loop continues.
func (c events) stream(ctx context.Context, path string, after *int64, yield func(api.Event) bool) (open, more bool, err error) {
	r := request{method: http.MethodGet, path: path}
	if *after >= 0 {
		r.query = url.Values{"after": {strconv.FormatInt(*after, 10)}}
		r.header = http.Header{"Last-Event-Id": {strconv.FormatInt(*after, 10)}}
	}
	res, err := c.once(ctx, r, nil)
	if err != nil {
		return false, true, err
	}
	defer func() { _ = res.Body.Close() }() // read as far as it arrived
	in := newEventReader(res.Body)
	for {
		e, err := in.next()
		if in.last >= 0 {
			*after = in.last
		}
		if err != nil {
			if media.CodeOf(err) == media.CodeInternal || ctx.Err() != nil {
				err = broken(ctx, "GET "+path, err)
			}
			return true, true, err
		}
		if !yield(e) {
			return true, false, nil
		}
	}
}
