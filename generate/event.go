package generate

import (
	"time"

	"atelier/media"
)

// EventKind is the kind of an [Event].
type EventKind string

// The kinds of events.
const (
	// EventStarted: the operation is planned and journalled; no call has been made.
	EventStarted EventKind = "started"
	// EventProgress: the provider reports progress of a call.
	EventProgress EventKind = "progress"
	// EventPartial: a preview frame of a slot arrived; it is temporary.
	EventPartial EventKind = "partial"
	// EventRetry: a call failed and is repeated after Wait.
	EventRetry EventKind = "retry"
	// EventWait: a call starts after Wait, because the provider asked another one to wait.
	EventWait EventKind = "wait"
	// EventFallback: the next model is asked for results that the previous one could not make.
	EventFallback EventKind = "fallback"
	// EventSlot: a slot is final, recorded if it succeeded.
	EventSlot EventKind = "slot"
	// EventFinished: the operation is over, or left running after its wait.
	EventFinished EventKind = "finished"
)

// Event is a change in an operation. It contains no media bytes.
type Event struct {
	Kind      EventKind
	Operation string
	Provider  string
	// Model is the display name.
	Model string
	// N is how many results were requested.
	N int
	// Slot is the index, from 1, for partial and slot events.
	Slot int
	// Elapsed is the time since the operation began.
	Elapsed time.Duration
	// Progress is 0 to 1; negative if unknown.
	Progress float64
	// Sequence counts the preview frames of a slot, from 1.
	Sequence int
	// Partial is the preview frame.
	Partial *media.Blob
	// Shows is how many results of the call the frame shows: 1, or more for the whole grid of a model that draws grids,
	// whose first tile becomes Slot. The frame is not cut.
	Shows int
	// Output is the slot's output.
	Output *media.Output
	// Status is the slot's or the operation's.
	Status Status
	// Error is why a slot failed, or why a call is repeated or waits.
	Error *SlotError
	// Wait is the pause before a repeat, or before a call that waits.
	Wait time.Duration
}
