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
	// Follow returns the events of a run's tree, or all events if run is empty: the events saved
	// after the position after, in order, without gaps or repeats, and then new ones. A negative
	// after starts with new events. It continues until ctx or the loop ends; an error is the last
	// value.
	Follow(ctx context.Context, run string, after int64) iter.Seq2[Event, error]
}

// Event is something that happened.
type Event struct {
	// ID is its position among all events; 0 for events that are not saved: partial messages,
	// progress, previews.
	ID   int64
	Kind string
	// RunID is the event's run, Tree the root of that run. For generations outside of runs, RunID
	// is empty and Tree is the operation.
	RunID, Tree    string
	ConversationID string
	AgentPath      string
	At             time.Time
	// Data is the payload as a JSON object; it contains the fields above as well.
	Data json.RawMessage
}

// Ends reports whether a run ends or pauses with the event.
func (e Event) Ends(run string) bool {
	return e.RunID == run && slices.Contains([]string{"run-succeeded", "run-failed", "run-cancelled", "run-paused"}, e.Kind)
}

// maxEventLine is the maximum length of a line in a stream.
const maxEventLine = 16 << 20

// EventReader reads a stream of server-sent events as the server writes them.
type EventReader struct {
	lines *bufio.Scanner
	// last is the id that resumes the stream; -1 before there is one.
	last int64
}

// NewEventReader reads a stream.
func NewEventReader(r io.Reader) *EventReader {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 4<<10), maxEventLine)
	return &EventReader{lines: lines, last: -1}
}

// LastID is the id after which the stream can be resumed; negative while there is none.
func (r *EventReader) LastID() int64 { return r.last }

// Next reads an event. The end of the stream is io.EOF; an incomplete event is omitted.
func (r *EventReader) Next() (Event, error) {
	var e Event
	given := false // an id, which may be 0 if nothing was saved yet
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
				return e, e.about()
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

// about reads the common fields of an event.
func (e *Event) about() error {
	var about eventAbout
	if err := json.Unmarshal(e.Data, &about); err != nil {
		return media.Errorf(media.CodeBadResponse, "read the data of an event %.40s: %s", e.Kind, media.ErrorText(err.Error()))
	}
	e.RunID, e.Tree, e.ConversationID, e.AgentPath, e.At = about.RunID, about.Tree, about.ConversationID, about.AgentPath, about.At
	return nil
}

// eventAbout is the common fields of events besides their payload.
type eventAbout struct {
	RunID          string    `json:"run_id"`
	Tree           string    `json:"tree"`
	ConversationID string    `json:"conversation_id,omitempty"`
	AgentPath      string    `json:"agent_path,omitempty"`
	At             time.Time `json:"at"`
}
