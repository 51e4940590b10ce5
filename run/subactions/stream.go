package subactions

import (
	"context"
	"iter"
	"time"

	"atelier/generate"
	"atelier/journal"
	"atelier/media"
)

// EventType is the type of an event in a sub-action's stream.
type EventType string

// The types. The last event of a stream is complete or error.
const (
	EventAccepted EventType = "accepted" // Accepted
	EventProgress EventType = "progress" // Progress
	EventPartial  EventType = "partial"  // Partial
	EventComplete EventType = "complete" // Complete
	EventError    EventType = "error"    // Failure
)

// Event is an event of a sub-action's stream.
type Event struct {
	// ID counts from 1 in each sub-action.
	ID   int
	Type EventType
	Data any
}

// Last reports whether the event ends the stream.
func (e Event) Last() bool { return e.Type == EventComplete || e.Type == EventError }

// replaces reports whether the event supersedes an older one.
func (e Event) replaces(old Event) bool {
	if e.Type != old.Type {
		return false
	}
	p, partial := e.Data.(Partial)
	o, _ := old.Data.(Partial)
	return e.Type == EventProgress || partial && p.Position == o.Position
}

// Accepted reports that a click was accepted.
type Accepted struct {
	MetadataID string `json:"metadata_id"`
	// Position is the number of sub-actions that must end before it starts.
	Position int `json:"position"`
}

// Progress reports the progress of the generation.
type Progress struct {
	ElapsedMS int64  `json:"elapsed_ms"`
	Message   string `json:"message"`
}

// Partial reports a preview, which is among the events of the run.
type Partial struct {
	Position int    `json:"position"`
	Sequence int    `json:"sequence"`
	MIMEType string `json:"mime_type,omitempty"`
	Width    int    `json:"width,omitempty"`
	Height   int    `json:"height,omitempty"`
}

// Complete contains the results.
type Complete struct {
	URLs       []string    `json:"urls"`
	ContentIDs []string    `json:"content_ids"`
	MetadataID string      `json:"metadata_id"`
	Errors     []SlotError `json:"errors"`
}

// Failure explains why there are no results.
type Failure struct {
	Code       string `json:"code"`
	Message    string `json:"message"`
	Retryable  bool   `json:"retryable"`
	MetadataID string `json:"metadata_id"`
}

// last returns the last event of a finished sub-action's stream.
func last(st Status) Event {
	if len(st.Contents) == 0 {
		f := Failure{Code: st.Failure.Code, Message: st.Failure.Message, Retryable: st.Failure.Retryable, MetadataID: st.ID}
		if f.Code == "" {
			f.Code, f.Message = string(media.CodeBadResponse), "nothing came"
			if st.Status == string(generate.StatusCancelled) {
				f.Code, f.Message = string(media.CodeCancelled), "it was cancelled"
			}
		}
		return Event{Type: EventError, Data: f}
	}
	c := Complete{MetadataID: st.ID, Errors: st.Errors, URLs: []string{}, ContentIDs: []string{}}
	for _, one := range st.Contents {
		c.URLs, c.ContentIDs = append(c.URLs, mediaURL(one.MediaID)), append(c.ContentIDs, one.ID)
	}
	return Event{Type: EventComplete, Data: c}
}

// pollInterval is the interval between checks of a sub-action of another process.
const pollInterval = 500 * time.Millisecond

// Follow returns the events of a sub-action after a number, until its last one or the end of ctx. For a sub-action that
// another process executes, it returns only the accepted event and the last one. The error for an unknown sub-action
// has code media.CodeNotFound.
func (s *Service) Follow(ctx context.Context, owner, id string, after int) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		var followed *task
		for ctx.Err() == nil {
			st, err := s.Status(ctx, owner, id)
			if err != nil {
				yield(Event{}, err)
				return
			}
			if t := s.find(id); t != nil && t != followed {
				if follow(ctx, t, &after, yield) {
					return
				}
				followed = t // without its end, which the row has
				continue
			}
			if after == 0 {
				if after = 1; !yield(Event{ID: 1, Type: EventAccepted, Data: Accepted{MetadataID: id}}, nil) {
					return
				}
			}
			if !st.FinishedAt.IsZero() {
				e := last(st)
				e.ID = after + 1
				yield(e, nil)
				return
			}
			_ = journal.Memory{}.Sleep(ctx, pollInterval) // the loop ends with ctx
		}
	}
}

// follow yields the events of a task; ended means that the stream is complete.
func follow(ctx context.Context, t *task, after *int, yield func(Event, error) bool) (ended bool) {
	for {
		gone := t.released()
		events, changed := t.after(*after)
		for _, e := range events {
			if *after = e.ID; !yield(e, nil) || e.Last() {
				return true
			}
		}
		if gone {
			return false // another process finishes it, or all events were sent
		}
		select {
		case <-changed:
		case <-t.done:
		case <-ctx.Done():
			return true
		}
	}
}
