package api

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"slices"
	"strconv"
	"time"

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

// maxEventLine is the maximum length of a line in a stream.
const maxEventLine = 16 << 20

// EventReader reads a stream of server-sent events in the form that the server writes.
type EventReader struct {
	lines *bufio.Scanner
	// last is the id after which the stream can be resumed; -1 until one was read.
	last int64
}

// NewEventReader creates a reader of a stream.
func NewEventReader(r io.Reader) *EventReader {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 4<<10), maxEventLine)
	return &EventReader{lines: lines, last: -1}
}

// LastID returns the id after which the stream can be resumed; negative until one was read.
func (r *EventReader) LastID() int64 { return r.last }

// Next returns the next event. At the end of the stream, the error is io.EOF; an incomplete event is dropped.
func (r *EventReader) Next() (Event, error) {
	var e Event
	given := false // the event has an id, which is 0 if nothing was saved yet
	for r.lines.Scan() {
		name, value, _ := bytes.Cut(r.lines.Bytes(), []byte(": "))
		switch string(name) {
		case "id":
			id, err := strconv.ParseInt(string(value), 10, 64)
			if err != nil {
				return e, media.Errorf(media.CodeBadResponse, "an event has the id %.40q", media.ErrorText(string(value)))
			}
			e.ID, given = id, true
		case "event":
			e.Kind = string(value)
		case "data":
			e.Data = bytes.Clone(value)
		case "":
			if given {
				r.last = e.ID
			}
			if e.Kind != "" {
				if err := json.Unmarshal(e.Data, &e); err != nil {
					return e, media.Errorf(media.CodeBadResponse, "read the data of an event %.40s: %s", e.Kind, media.ErrorText(err.Error()))
				}
				return e, nil
			}
			e, given = Event{}, false
		}
	}
	if err := r.lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return Event{}, media.Errorf(media.CodeTooLarge, "an event has more than %d bytes", maxEventLine)
	} else if err != nil {
		return Event{}, err
	}
	return Event{}, io.EOF
}
