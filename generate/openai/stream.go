package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"atelier/generate"
	"atelier/generate/internal/post"
	"atelier/media"
)

// event is one frame of a stream.
type event struct {
	Type string `json:"type"`
	datum
	answer
	Error *apiError `json:"error"`
	// Index counts the previews of a picture, from 0.
	Index int `json:"partial_image_index"`
}

// previews hands preview frames on. The events do not say which picture they belong to,
// so they belong to the one that comes next.
type previews struct {
	task   generate.Task
	seen   bool // anything at all
	slot   int
	newest int // the highest index of the slot
}

// show passes a frame on, unless it comes after its picture, or, where the call makes
// one picture, after a newer frame: the last one shown is what is kept if the picture
// never comes.
func (p *previews) show(done int, index int, b media.Blob) {
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

// follow reads a stream: previews go to the task's Partial, finished pictures into
// the update. Previews of the picture that is being made carry its number, from 1.
func (d *Driver) follow(ctx context.Context, call post.Call, t generate.Task, s *post.Stream) (generate.Update, error) {
	u, shown := generate.Update{Done: true, Progress: 1}, &previews{task: t}
	var failed error
	err := d.client.Events(s, func(data []byte) error {
		var e event
		if err := json.Unmarshal(data, &e); err != nil {
			failed = media.Errorf(media.CodeBadResponse, "the stream of %s holds an event of another shape; the call may have been billed", d.client.Name)
			return failed
		}
		if e.Type != "error" && e.Error == nil {
			d.frame(shown, &u, e, s)
			return nil
		}
		failed = d.failed(call, shown, &u, e, data)
		return cmp.Or(failed, io.EOF)
	})
	switch {
	case failed != nil:
		return u, failed
	case err != nil || len(u.Items) == 0:
		return u, d.client.Lost(ctx, cmp.Or(err, io.ErrUnexpectedEOF), len(u.Items))
	}
	return u, nil
}

// frame takes one event with a picture; events of other types are passed over.
func (d *Driver) frame(shown *previews, u *generate.Update, e event, s *post.Stream) {
	switch {
	case strings.HasSuffix(e.Type, ".partial_image"):
		if b, ok := s.Media.Take(e.B64JSON); ok {
			shown.show(len(u.Items), e.Index, b)
		}
	case strings.HasSuffix(e.Type, ".completed"):
		u.Items = append(u.Items, d.item(e.datum, s.Media, e.OutputFormat))
		u.Metadata = d.metadata(e.answer)
		u.Usage.Add(e.Usage.count())
		u.Usage.Calls, u.Usage.Images = 1, post.Made(u.Items)
	}
}

// failed ends a stream by its error event, which nests the error or is it. After a
// preview the work had begun, and previews are billed: then nothing is repeated.
func (d *Driver) failed(call post.Call, shown *previews, u *generate.Update, e event, data []byte) error {
	said := e.Error
	if said == nil {
		said = &apiError{}
		if err := json.Unmarshal(data, said); err != nil {
			return media.Errorf(media.CodeBadResponse, "the stream of %s ended in an error that cannot be read; the call may have been billed", d.client.Name)
		}
	}
	call.N = max(call.N, 1) - len(u.Items)
	refused, err := d.client.Refuse(call, &post.Answer{Status: http.StatusOK}, said.fault(http.StatusOK))
	if call.N > 0 {
		u.Items = append(u.Items, refused.Items...)
	}
	u.Usage.Calls = 1
	if coded, ok := errors.AsType[*media.Error](err); ok && (shown.seen || len(u.Items) > 0) {
		coded.Retryable, coded.Cause = false, generate.ErrUnsettled
	}
	return err
}
