// Package operation is the state machine of generations: the statuses of an operation, its provider calls and its
// slots, the events that happen to them, and the transitions, all in one table. [Advance] is the only way from one
// status to the next.
//
// An operation is a caller's request, an attempt is one provider call of it, and a slot is one of its results. The
// table does not show the following, because it is not in a status:
//
//   - The journal step of an attempt is written before its status, so a process that dies in between
//     finds the answer there and sends nothing twice.
//   - A call that was sent and not answered stays submitted until a process works on the operation
//     again. Then its task is found (EventName), or it fails as unsettled: it may have been billed.
//   - A result that was made and could not be fetched or stored (a dead link, a full disk) leaves
//     slot, attempt and operation running (EventLeave), with the reason in the slot. Resuming
//     fetches it without a call. One that came with its answer cannot be fetched: resuming leaves
//     an operation that lacks nothing else, and a retry of all requests the result again.
//   - Finished slots that are requested again lose their rows and start anew, in the same commit that
//     queues the operation again. Slots with a result keep it.
//   - A record, a slot or a receipt that could not be saved keeps the operation open, whatever its
//     slots are. Resuming saves it.
//   - The table does not decide who may work on an operation; the lease does.
//
// The package also defines what the gateway stores of an operation ([Log]), and what follows from it ([Saved]).
//
// It may import media, generate and generate/driver.
package operation

import (
	"cmp"
	"slices"

	"atelier/generate"
	"atelier/media"
)

var (
	openStatuses       = []generate.Status{generate.StatusQueued, generate.StatusSubmitted, generate.StatusRunning}
	inProgressStatuses = []generate.Status{generate.StatusSubmitted, generate.StatusRunning} // calls in progress
	// incompleteStatuses are the ends without a result, or without all results.
	incompleteStatuses = []generate.Status{generate.StatusPartial, generate.StatusFailed, generate.StatusModerated, generate.StatusCancelled}
	finalStatuses      = slices.Concat([]generate.Status{generate.StatusSucceeded}, incompleteStatuses)
	// unfilledStatuses are the statuses of slots without a result, which a later call may fill.
	unfilledStatuses = []generate.Status{generate.StatusQueued, generate.StatusRunning, generate.StatusFailed, generate.StatusModerated, generate.StatusCancelled}
)

// Subject is the kind of thing that has a status.
type Subject string

// The subjects.
const (
	SubjectOperation Subject = "operation"
	SubjectAttempt   Subject = "attempt"
	SubjectSlot      Subject = "slot"
)

// Event is what happens to a subject.
type Event string

// Entry events: what a caller wants of an operation.
const (
	// EventGenerate begins an operation; it also requests a slot.
	EventGenerate Event = "generate"
	// EventResume continues work in progress.
	EventResume Event = "resume"
	// EventRetry requests missing results again, or fetches them.
	EventRetry Event = "retry"
	// EventRejoin is Generate for a request whose operation its caller interrupted.
	EventRejoin Event = "rejoin"
	// EventNotify is a provider's message about a call whose answer was lost.
	EventNotify Event = "notify"
	// EventCancel ends an operation for a person; it also ends interrupted work.
	EventCancel Event = "cancel"
	// EventAbandon ends what a process left behind.
	EventAbandon Event = "abandon"
)

// Work events.
const (
	// EventSend is a call about to be made.
	EventSend Event = "send"
	// EventName reports the id of a call's task, from the answer, a list or a message.
	EventName Event = "name"
	// EventExtra is a result beyond those requested.
	EventExtra Event = "extra"
	// EventLeave leaves work that continues: at its provider, in another process, or later.
	EventLeave Event = "leave"
	// EventReject ends a call that was not made, because its provider must not be called at present.
	EventReject Event = "reject"
	// EventSucceed, EventSucceedInPart, EventFail and EventModerate are ends.
	EventSucceed       Event = "succeed"
	EventSucceedInPart Event = "succeed-in-part"
	EventFail          Event = "fail"
	EventModerate      Event = "moderate"
)

// transition is a row of the table: from any of these statuses to another one. If to is empty, the status stays.
type transition struct {
	subject Subject
	event   Event
	from    []generate.Status
	to      generate.Status
}

var table = slices.Concat(
	// Entry events. An operation in progress is worked on as it is; a finished one returns its result or is queued
	// again.
	[]transition{
		{SubjectOperation, EventGenerate, []generate.Status{generate.StatusNew}, generate.StatusQueued},
		{SubjectOperation, EventResume, slices.Concat(openStatuses, finalStatuses), ""},
		{SubjectOperation, EventAbandon, slices.Concat(openStatuses, finalStatuses), ""},
		{SubjectOperation, EventRetry, openStatuses, ""},
		{SubjectOperation, EventRetry, finalStatuses, generate.StatusQueued},
		{SubjectOperation, EventRejoin, slices.Concat(openStatuses, []generate.Status{generate.StatusSucceeded, generate.StatusModerated}), ""},
		{SubjectOperation, EventRejoin, []generate.Status{generate.StatusPartial, generate.StatusFailed, generate.StatusCancelled}, generate.StatusQueued},
		{SubjectOperation, EventNotify, slices.Concat(openStatuses, []generate.Status{generate.StatusCancelled}), ""},
		{SubjectOperation, EventNotify, []generate.Status{generate.StatusSucceeded, generate.StatusPartial, generate.StatusFailed, generate.StatusModerated}, generate.StatusQueued},
		{SubjectOperation, EventCancel, []generate.Status{generate.StatusCancelled}, ""},
	},
	// Work events. An operation in progress follows its calls.
	[]transition{
		{SubjectOperation, EventSend, []generate.Status{generate.StatusQueued}, generate.StatusSubmitted},
		{SubjectOperation, EventSend, slices.Concat(inProgressStatuses, finalStatuses), ""},
		{SubjectOperation, EventName, openStatuses, generate.StatusRunning},
		{SubjectOperation, EventName, finalStatuses, ""},
		{SubjectOperation, EventLeave, openStatuses, generate.StatusRunning},
		{SubjectOperation, EventSucceedInPart, openStatuses, generate.StatusPartial},
	},
	ends(SubjectOperation, openStatuses),
	// Calls. A finished one is in progress again if its task becomes known.
	[]transition{
		{SubjectAttempt, EventSend, []generate.Status{generate.StatusNew}, generate.StatusSubmitted},
		{SubjectAttempt, EventReject, []generate.Status{generate.StatusNew}, generate.StatusFailed},
		{SubjectAttempt, EventName, slices.Concat(inProgressStatuses, incompleteStatuses), generate.StatusRunning},
		{SubjectAttempt, EventLeave, inProgressStatuses, ""},
		{SubjectAttempt, EventSucceedInPart, inProgressStatuses, generate.StatusPartial},
	},
	ends(SubjectAttempt, inProgressStatuses),
	// Slots. A slot never loses its result.
	[]transition{
		{SubjectSlot, EventGenerate, []generate.Status{generate.StatusNew}, generate.StatusQueued},
		{SubjectSlot, EventExtra, []generate.Status{generate.StatusNew}, generate.StatusRunning},
		{SubjectSlot, EventLeave, unfilledStatuses, generate.StatusRunning},
	},
	ends(SubjectSlot, unfilledStatuses),
)

// ends returns the transitions to the ends that every subject has.
func ends(s Subject, from []generate.Status) []transition {
	return []transition{
		{s, EventSucceed, from, generate.StatusSucceeded},
		{s, EventFail, from, generate.StatusFailed},
		{s, EventModerate, from, generate.StatusModerated},
		{s, EventCancel, from, generate.StatusCancelled},
	}
}

// Advance returns the status that follows an event. An event that cannot happen to the subject changes nothing; the
// error has code media.CodeInternal.
func Advance(s Subject, from generate.Status, e Event) (generate.Status, error) {
	for _, t := range table {
		if t.subject != s || t.event != e || !slices.Contains(t.from, from) {
			continue
		}
		return cmp.Or(t.to, from), nil
	}
	return from, media.Errorf(media.CodeInternal, "event %s cannot happen to the %s status %q", e, s, from)
}

// Check reports whether a subject may be saved with a status after another one: the same status, or one that an event
// leads to. The error is as for [Advance].
func Check(s Subject, from, to generate.Status) error {
	leads := func(t transition) bool { return t.subject == s && t.to == to && slices.Contains(t.from, from) }
	if from == to || to != generate.StatusNew && slices.ContainsFunc(table, leads) {
		return nil
	}
	return media.Errorf(media.CodeInternal, "the status %q of this %s cannot become %q", from, s, to)
}
