package openai

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"strings"

	"atelier/generate"
	"atelier/generate/internal/post"
	"atelier/media"
)

// frameLimit bounds one event after its picture was lifted out of it.
const frameLimit = 1 << 20

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

// isStream reports whether the answer is a stream of events. A server that does
// not stream answers the same request with plain JSON.
func isStream(s *post.Stream) bool {
	t, _, err := mime.ParseMediaType(s.Header.Get("Content-Type"))
	return err == nil && s.Status == http.StatusOK && t == "text/event-stream"
}

// follow reads a stream: previews go to the task's Partial, finished pictures into
// the update. Previews of the picture that is being made carry its number, from 1.
func (d *Driver) follow(ctx context.Context, t generate.Task, s *post.Stream) (generate.Update, error) {
	defer func() { _ = s.Body.Close() }()
	u, shown := generate.Update{Done: true, Progress: 1}, &previews{task: t}
	lines := bufio.NewScanner(s.Body)
	lines.Buffer(make([]byte, 0, 16<<10), frameLimit)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data:")
		if !ok || strings.TrimSpace(data) == "[DONE]" {
			continue
		}
		var e event
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			if !lines.Scan() { // the last line, so it was cut off
				break
			}
			return u, media.Errorf(media.CodeBadResponse, "the stream of %s holds an event that is not JSON; the call may have been billed", d.endpoint.Name)
		}
		if e.Type == "error" || e.Error != nil {
			return d.failedStream(shown, u, e, data)
		}
		d.frame(shown, &u, e, s)
	}
	if err := lines.Err(); err != nil || len(u.Items) == 0 {
		if err == nil {
			err = io.ErrUnexpectedEOF
		}
		return u, d.client.Lost(ctx, err, len(u.Items))
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
		u.Metadata = e.metadata(d.client.Clean)
		n := e.Usage.count(1)
		u.Usage.Calls, u.Usage.Images = 1, pictures(u.Items)
		u.Usage.InputTokens += n.InputTokens
		u.Usage.OutputTokens += n.OutputTokens
		u.Usage.ImageInputTokens += n.ImageInputTokens
		u.Usage.ImageOutputTokens += n.ImageOutputTokens
	}
}

// failedStream ends a stream by its error event, which nests the error or is it. After a
// preview the work had begun, and previews are billed: then nothing is repeated.
func (d *Driver) failedStream(shown *previews, u generate.Update, e event, data string) (generate.Update, error) {
	t := shown.task
	said := e.Error
	if said == nil {
		said = &apiError{}
		if err := json.Unmarshal([]byte(data), said); err != nil {
			return u, media.Errorf(media.CodeBadResponse, "the stream of %s ended in an error that cannot be read; the call may have been billed", d.endpoint.Name)
		}
	}
	said.clean(d.client)
	if said.moderated() {
		u.Items = append(u.Items, d.refusals(said, max(t.N, 1)-len(u.Items))...)
		u.Usage.Calls = 1
		return u, nil
	}
	err := d.meaning(t, http.StatusOK, nil, said)
	if shown.seen || len(u.Items) > 0 {
		err.Retryable, err.Cause = false, generate.ErrUnsettled
	}
	return u, err
}
