package api

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"atelier/ledger"
	"atelier/media"
)

// EventService delivers events.
type EventService interface {
	// Follow returns the events of a run's tree, or all events if run is empty. It starts with the events saved after
	// the position after, in order and without gaps or repeats, and continues with new events. If after is negative, it
	// returns only new events. It ends with ctx or the loop. An error is the last value.
	Follow(ctx context.Context, run string, after int64) iter.Seq2[Event, error]
}

// Event is an event of a run or a generation.
type Event struct {
	// ID is the position among all saved events; 0 for events that are not saved: partial messages, progress, previews.
	ID   int64  `json:"-"`
	Kind string `json:"-"`
	// RunID is the run of the event. Tree is the root run. For generations outside of runs, RunID is empty and Tree is
	// the operation.
	RunID          string    `json:"run_id"`
	Tree           string    `json:"tree"`
	ConversationID string    `json:"conversation_id,omitempty"`
	AgentPath      string    `json:"agent_path,omitempty"`
	At             time.Time `json:"at"`
	// Data is the payload as a JSON object. It also contains the fields above that have a name in JSON.
	Data json.RawMessage `json:"-"`
}

// Ends reports whether the event ends or pauses a run.
func (e Event) Ends(run string) bool {
	return e.RunID == run && slices.Contains([]string{"run-succeeded", "run-failed", "run-cancelled", "run-paused"}, e.Kind)
}

const (
	// heartbeat is the interval of heartbeats in an idle stream.
	heartbeat = 15 * time.Second
	// writeTimeout is the write timeout of events that are sent together: at most flushThreshold bytes plus one event.
	writeTimeout   = 20 * time.Second
	flushThreshold = 64 << 10
	// reconnect sets the reconnection time of browsers, in milliseconds.
	reconnect = "retry: 1500\n\n"
)

// registerEvents registers the event streams. hub returns the hub of a request's owner.
func registerEvents(rt *routes, hub func(ctx context.Context) *Hub, a *access) {
	text := map[string]*huma.Response{"200": {
		Description: "Server-sent events: id is the event's position, event its kind, and data its payload with run_id, tree, conversation_id and at. " +
			"Partial messages, progress and previews are not stored and have no id; message-delta contains the whole text so far.",
		Content: map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{Type: huma.TypeString}}},
	}}
	params := []*huma.Param{
		{Name: "after", In: "query", Description: "Start after this id. Without it and without Last-Event-ID, only new events are sent.", Schema: &huma.Schema{Type: huma.TypeInteger}},
		{Name: "Last-Event-ID", In: "header", Description: "Resume after this id. It takes precedence over after.", Schema: &huma.Schema{Type: huma.TypeInteger}},
	}
	for path, summary := range map[string]string{"/api/events": "Follow events", "/api/runs/{id}/events": "Follow run"} {
		rt.stream(huma.Operation{Method: http.MethodGet, Path: path, Summary: summary, Tags: []string{"events"}, Parameters: params, Responses: text}, func(w http.ResponseWriter, r *http.Request) error {
			after, err := position(r)
			if err != nil {
				return err
			}
			out := newEventWriter(w, r)
			out.allowed = func() bool { return a.allows(r) }
			return hub(r.Context()).stream(r.Context(), r.PathValue("id"), after, out)
		})
	}
}

// stream writes the events of a run's tree, or all events, after a position. A negative position means the current end
// of the log. It returns errors only before the first write; after that, the stream just ends.
func (h *Hub) stream(ctx context.Context, run string, after int64, out *eventWriter) error {
	tree := ""
	if run != "" {
		first, err := h.src.EventsAfter(ctx, run, 0, 1)
		if err != nil {
			return err
		}
		if tree = run; len(first) > 0 {
			tree = first[0].Tree
		}
	}
	select {
	case <-h.ready: // events saved from here on are either read below or passed on
	case <-ctx.Done():
		return ctx.Err()
	}
	newest, err := h.src.LastPosition(ctx)
	if err != nil {
		return err
	}
	reader, now, ok := h.addReader(tree)
	if !ok {
		return media.Errorf(media.CodeUnavailable, "the server is stopping: reconnect in a moment")
	}
	defer h.removeReader(reader)
	out.write([]byte(reconnect))
	if after < 0 || after > newest { // the id may come from another database
		after = newest
		out.write([]byte("id: " + strconv.FormatInt(newest, 10) + "\n\n")) // a lost stream resumes there
	}
	after = h.replay(ctx, out, run, after)
	out.frames(now, &after)
	out.live(ctx, reader, after)
	return nil
}

// position returns the start position of a stream; -1 means new events only.
func position(r *http.Request) (after int64, err error) {
	text := cmp.Or(r.Header.Get("Last-Event-ID"), r.URL.Query().Get("after"))
	if text == "" {
		return -1, nil
	}
	after, err = strconv.ParseInt(text, 10, 64)
	if err != nil || after < 0 {
		return 0, media.Errorf(media.CodeInvalid, "%.40q is not an event id: use the id of the last event received, or omit it", media.ErrorText(text))
	}
	return after, nil
}

// replay writes the events saved after a position and returns the last position.
func (h *Hub) replay(ctx context.Context, out *eventWriter, run string, after int64) int64 {
	conversations := map[string]string{}
	for out.err == nil {
		events, err := h.src.EventsAfter(ctx, run, after, ledger.MaxLimit)
		if err != nil {
			out.err = err // the reader reconnects
			return after
		}
		for _, e := range events {
			c, known := conversations[e.Tree]
			if !known {
				c, _ = h.src.ConversationOf(ctx, e.Tree) // an event matters more than its conversation
				conversations[e.Tree] = c
			}
			out.add(encodeEvent(e, c))
			after = e.Position
		}
		out.flush()
		if len(events) < ledger.MaxLimit {
			break
		}
	}
	return after
}

// eventWriter writes to one client and remembers whether the client has disconnected.
type eventWriter struct {
	w        http.ResponseWriter
	control  *http.ResponseController
	extended time.Time // when the write deadline was last extended
	err      error
	unsent   int         // bytes
	allowed  func() bool // reports whether the client may still read; nil means that it may
}

// newEventWriter creates a writer to a client and sets the headers of an event stream. The response to a HEAD request
// ends after its headers: the client may use the connection for its next request.
func newEventWriter(w http.ResponseWriter, r *http.Request) *eventWriter {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no")
	o := &eventWriter{w: w, control: http.NewResponseController(w)}
	if r.Method == http.MethodHead {
		o.err = io.EOF
	}
	return o
}

// add writes data, and flushes when flushThreshold bytes are unsent. It extends the write deadline before the first of
// the writes that are sent together.
func (o *eventWriter) add(b []byte) {
	if o.err != nil {
		return
	}
	if now := time.Now(); o.unsent == 0 && now.Sub(o.extended) > writeTimeout/20 { //nolint:forbidigo // a deadline of the connection
		o.extended = now
		_ = o.control.SetWriteDeadline(now.Add(writeTimeout)) // test recorders have no deadline
	}
	_, o.err = o.w.Write(b)
	if o.unsent += len(b); o.unsent >= flushThreshold {
		o.flush()
	}
}

func (o *eventWriter) flush() {
	if o.err == nil && o.unsent > 0 {
		o.unsent = 0
		o.err = o.control.Flush()
	}
}

func (o *eventWriter) write(b []byte) {
	o.add(b)
	o.flush()
}

// live writes new events until the reader disconnects, is dropped, or its access token has expired or was revoked, which
// is checked at each heartbeat.
func (o *eventWriter) live(ctx context.Context, reader *eventReader, after int64) {
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for o.err == nil {
		select {
		case some, ok := <-reader.frames:
			if !ok {
				return
			}
			o.frames(some, &after)
		case <-beat.C:
			if o.allowed != nil && !o.allowed() {
				return
			}
			o.write([]byte(":\n\n"))
		case <-ctx.Done():
			return
		}
	}
}

// frames writes the events that were not written yet and sends them together.
func (o *eventWriter) frames(some []frame, after *int64) {
	for _, f := range some {
		if f.position == 0 || f.position > *after {
			o.add(f.text)
			*after = max(*after, f.position)
		}
	}
	o.flush()
}
