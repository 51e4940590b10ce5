package post

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"atelier/generate/driver"
	"atelier/media"
	"atelier/media/wire"
)

// frameLimit limits one event after its picture was lifted out of it.
const frameLimit = 1 << 20

// Events reads a stream of JSON events to its end and closes it. An error of each ends the stream and is returned,
// except io.EOF, which ends it without an error. A stream that ends inside an event returns io.ErrUnexpectedEOF.
func (c *Client) Events(body io.ReadCloser, each func(data []byte) error) error {
	defer func() { _ = body.Close() }()
	lines := bufio.NewScanner(body)
	lines.Buffer(make([]byte, 0, 16<<10), frameLimit)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data:")
		if !ok || strings.TrimSpace(data) == "[DONE]" {
			continue
		}
		if !json.Valid([]byte(data)) {
			if !lines.Scan() { // the last line, so it was truncated
				return io.ErrUnexpectedEOF
			}
			return media.Errorf(media.CodeBadResponse, "the stream of %s contains an event that is not JSON; the call may have been billed", c.Name)
		}
		if err := each([]byte(data)); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return media.Errorf(media.CodeTooLarge, "an event in the stream of %s is longer than %d MiB without its media", c.Name, frameLimit>>20)
	}
	return lines.Err()
}

// Frame is the content of one event of a stream; the zero value has none.
type Frame struct {
	// Preview is a preview of the next result; Index is its number, from 0.
	Preview *media.Blob
	Index   int
	// Results are finished results with their metadata.
	Results driver.Update
	// Fault ends the stream.
	Fault *Fault
}

// follow reads a stream: it sends previews to the task's Partial and adds results to the update.
func (c *Client) follow(ctx context.Context, call Call, a *Answer) (driver.Update, error) {
	u, shown := driver.Update{Done: true, Progress: 1}, &previews{task: call.Task}
	var failed error
	err := c.Events(a.stream, func(data []byte) error {
		f, err := call.Frame(a.Media, data)
		switch {
		case err != nil:
			e := media.Errorf(media.CodeBadResponse, "the stream of %s contains an event of an unknown form; the call may have been billed, so it is not repeated", c.Name)
			e.Cause, failed = driver.ErrUnsettled, e
		case f.Fault != nil:
			failed = c.broken(call, shown, &u, *f.Fault)
			return cmp.Or(failed, io.EOF)
		case f.Preview != nil:
			shown.show(len(u.Items), f.Index, *f.Preview)
		case len(f.Results.Items) > 0:
			u.Items, u.Metadata = append(u.Items, f.Results.Items...), f.Results.Metadata
			u.Usage.Add(f.Results.Usage)
			u.Usage.Calls, u.Usage.Images = 1, Made(u.Items)
		}
		return failed
	})
	switch {
	case failed != nil:
		return u, failed
	case err != nil:
		return u, c.Lost(ctx, err, len(u.Items))
	case len(u.Items) == 0:
		return u, c.Lost(ctx, media.Errorf(media.CodeBadResponse, "it ended without a result: the call may be billed, so it is not repeated"), 0)
	}
	return u, nil
}

// broken ends a stream after an error event. A preview means that the work had begun, and previews are billed, so
// nothing is repeated.
func (c *Client) broken(call Call, shown *previews, u *driver.Update, f Fault) error {
	call.Task.N = max(call.Task.N, 1) - len(u.Items)
	refused, err := c.Refuse(call, &Answer{Status: http.StatusOK}, f)
	if call.Task.N > 0 {
		u.Items = append(u.Items, refused.Items...)
	}
	u.Usage.Calls = 1
	if coded, ok := errors.AsType[*media.Error](err); ok && (shown.seen || len(u.Items) > 0) {
		coded.Retryable, coded.Cause = false, driver.ErrUnsettled
	}
	return err
}

// previews passes on preview frames. Events do not say which result they belong to, so they are assigned to the next
// one.
type previews struct {
	task   driver.Task
	seen   bool // anything at all
	slot   int
	newest int // the highest index for the slot
}

// show passes a frame on, unless it comes after its result or, if the call makes one result, after a newer frame: the
// last frame shown is kept if the result never comes.
func (p *previews) show(done, index int, b media.Blob) {
	p.seen = true
	slot, n := done+1, max(p.task.N, 1)
	if slot != p.slot {
		p.slot, p.newest = slot, -1
	}
	if p.task.Partial == nil || slot > n || n == 1 && index < p.newest {
		return
	}
	p.newest = max(p.newest, index)
	p.task.Partial(slot, b)
}

// Preview returns the frame of lifted media; if it cannot be taken, the frame is empty.
func Preview(from *wire.Collector, token string, index int) Frame {
	b, ok := from.Take(token)
	from.Spare(token)
	if !ok {
		return Frame{}
	}
	return Frame{Preview: &b, Index: index}
}
