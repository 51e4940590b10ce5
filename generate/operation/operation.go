// Package operation is the state machine of generations: which statuses an operation, its
// provider calls and its slots have, which events happen to them, and what follows, all in one
// table. [Advance] is the only way from one status to the next.
//
// An operation is what a caller asked for, an attempt is one provider call of it, and a slot is
// one of its results. What the table does not show, because it is no status:
//
//   - The journal step of an attempt is written before its status is, so a process that dies in
//     between finds the answer there and sends nothing twice.
//   - A call that was sent and not answered stays submitted until a process works on the operation
//     again. Then its task is found (EventName), or it fails as unsettled: it may have been billed.
//   - A result that was made and could not be fetched or stored (a dead link, a full disk) leaves
//     slot, attempt and operation running (EventLeave), with the reason in the slot. Resuming
//     fetches it; no call is made. One that came with its answer cannot be fetched: resuming ends it
//     as failed, and only a retry of all asks again.
//   - Finished slots that are asked for again lose their rows and begin anew, in the same commit in
//     which the operation is queued again. Slots with a result keep it.
//   - A record, a slot or a receipt that could not be saved keeps the operation under way,
//     whatever its slots are. Resuming saves it.
//   - Who may work on an operation is not decided here: that is the hold.
//
// What the gateway keeps of an operation is here as well: what the [Log] saves, and what can be
// concluded from it ([Saved]).
//
// It may import media, generate and generate/driver.
package operation

import (
	"slices"

	"atelier/generate"
	"atelier/media"
)

var (
	open  = []generate.Status{generate.StatusQueued, generate.StatusSubmitted, generate.StatusRunning}
	under = []generate.Status{generate.StatusSubmitted, generate.StatusRunning} // calls that are under way
	// without are the ends that have nothing, or not all.
	without = []generate.Status{generate.StatusPartial, generate.StatusFailed, generate.StatusModerated, generate.StatusCancelled}
	over    = slices.Concat([]generate.Status{generate.StatusSucceeded}, without)
	// empty are the slots without a result: a later call may give them one.
	empty = []generate.Status{generate.StatusQueued, generate.StatusRunning, generate.StatusFailed, generate.StatusModerated, generate.StatusCancelled}
)

// Subject is what has a status.
type Subject string

// The subjects.
const (
	SubjectOperation Subject = "operation"
	SubjectAttempt   Subject = "attempt"
	SubjectSlot      Subject = "slot"
)

// Event is what happens to a subject.
type Event string

// The entries: what a caller wants of an operation.
const (
	// EventGenerate begins an operation; it also asks for a slot.
	EventGenerate Event = "generate"
	// EventResume continues what is under way.
	EventResume Event = "resume"
	// EventRetry asks again for results that are missing, or fetches them.
	EventRetry Event = "retry"
	// EventRejoin is Generate for a request whose operation was cut off by its caller.
	EventRejoin Event = "rejoin"
	// EventNotify is a provider's message about a call whose answer was lost.
	EventNotify Event = "notify"
	// EventCancel ends an operation for a person; it also is the end of what was given up.
	EventCancel Event = "cancel"
	// EventAbandon ends what a process left behind.
	EventAbandon Event = "abandon"
)

// The events of the work.
const (
	// EventSend is a call that is about to be made.
	EventSend Event = "send"
	// EventName is that the id of a call's task is known, from the answer, a list or a message.
	EventName Event = "name"
	// EventExtra is a result beyond those that were asked for.
	EventExtra Event = "extra"
	// EventLeave leaves work that continues: at its provider, in another process, or later.
	EventLeave Event = "leave"
	// EventReject ends a call that was not made: its provider is not to be asked now.
	EventReject Event = "reject"
	// EventSucceed, EventSucceedInPart, EventFail and EventModerate are ends.
	EventSucceed       Event = "succeed"
	EventSucceedInPart Event = "succeed-in-part"
	EventFail          Event = "fail"
	EventModerate      Event = "moderate"
)

// transition is a row of the table: from any of these statuses to another one. An empty to means that the status stays.
type transition struct {
	subject Subject
	event   Event
	from    []generate.Status
	to      generate.Status
}

var table = slices.Concat(
	// The entries. An operation that is under way is worked on as it is; one that is over gives
	// its result, or is queued again.
	[]transition{
		{SubjectOperation, EventGenerate, []generate.Status{generate.StatusNew}, generate.StatusQueued},
		{SubjectOperation, EventResume, slices.Concat(open, over), ""},
		{SubjectOperation, EventAbandon, slices.Concat(open, over), ""},
		{SubjectOperation, EventRetry, open, ""},
		{SubjectOperation, EventRetry, over, generate.StatusQueued},
		{SubjectOperation, EventRejoin, slices.Concat(open, []generate.Status{generate.StatusSucceeded, generate.StatusModerated}), ""},
		{SubjectOperation, EventRejoin, []generate.Status{generate.StatusPartial, generate.StatusFailed, generate.StatusCancelled}, generate.StatusQueued},
		{SubjectOperation, EventNotify, slices.Concat(open, []generate.Status{generate.StatusCancelled}), ""},
		{SubjectOperation, EventNotify, []generate.Status{generate.StatusSucceeded, generate.StatusPartial, generate.StatusFailed, generate.StatusModerated}, generate.StatusQueued},
		{SubjectOperation, EventCancel, []generate.Status{generate.StatusCancelled}, ""},
	},
	// The work. An operation follows its calls while it is under way.
	[]transition{
		{SubjectOperation, EventSend, []generate.Status{generate.StatusQueued}, generate.StatusSubmitted},
		{SubjectOperation, EventSend, slices.Concat(under, over), ""},
		{SubjectOperation, EventName, open, generate.StatusRunning},
		{SubjectOperation, EventName, over, ""},
		{SubjectOperation, EventLeave, open, generate.StatusRunning},
		{SubjectOperation, EventSucceedInPart, open, generate.StatusPartial},
	},
	ends(SubjectOperation, open),
	// The calls. One that is over is under way again when its task is known after all.
	[]transition{
		{SubjectAttempt, EventSend, []generate.Status{generate.StatusNew}, generate.StatusSubmitted},
		{SubjectAttempt, EventReject, []generate.Status{generate.StatusNew}, generate.StatusFailed},
		{SubjectAttempt, EventName, slices.Concat(under, without), generate.StatusRunning},
		{SubjectAttempt, EventLeave, under, ""},
		{SubjectAttempt, EventSucceedInPart, under, generate.StatusPartial},
	},
	ends(SubjectAttempt, under),
	// The slots. Nothing takes its result from one.
	[]transition{
		{SubjectSlot, EventGenerate, []generate.Status{generate.StatusNew}, generate.StatusQueued},
		{SubjectSlot, EventExtra, []generate.Status{generate.StatusNew}, generate.StatusRunning},
		{SubjectSlot, EventLeave, empty, generate.StatusRunning},
	},
	ends(SubjectSlot, empty),
)

// ends are the ends that every subject has.
func ends(s Subject, from []generate.Status) []transition {
	return []transition{
		{s, EventSucceed, from, generate.StatusSucceeded},
		{s, EventFail, from, generate.StatusFailed},
		{s, EventModerate, from, generate.StatusModerated},
		{s, EventCancel, from, generate.StatusCancelled},
	}
}

// Advance gives the status that follows. An event that cannot happen to such a subject changes
// nothing; the error has code media.CodeInternal.
func Advance(s Subject, from generate.Status, e Event) (generate.Status, error) {
	for _, t := range table {
		if t.subject != s || t.event != e || !slices.Contains(t.from, from) {
			continue
		}
		if t.to == "" {
			return from, nil
		}
		return t.to, nil
	}
	return from, media.Errorf(media.CodeInternal, "event %s cannot happen to the %s status %q", e, s, from)
}

// Check reports whether a subject may be saved with a status after another one: one that
// stays, or one that an event leads to. The error is as for [Advance].
func Check(s Subject, from, to generate.Status) error {
	leads := func(t transition) bool { return t.subject == s && t.to == to && slices.Contains(t.from, from) }
	if from == to || to != generate.StatusNew && slices.ContainsFunc(table, leads) {
		return nil
	}
	return media.Errorf(media.CodeInternal, "the status %q of this %s cannot become %q", from, s, to)
}
