package gateway

import (
	"slices"
	"sync"

	"atelier/generate/operation"
	"atelier/generate/plan"
	"atelier/media"
)

// history has the calls of an operation: those that earlier processes made, and the number of the
// newest one that this process makes or continues. Further calls are numbered from there, so that a
// call that an earlier process made is continued under its number and not made a second time. Only the
// goroutine that plans calls changes the numbers; take is safe for concurrent use.
type history struct {
	attempts map[int][]operation.Attempt // of earlier processes, by call
	numbered int                         // calls so far

	mu    sync.Mutex   // guards blobs
	blobs []media.Blob // stored by an earlier process and in no slot yet, oldest first
}

// of lists the attempts that earlier processes made at a call.
func (h *history) of(number int) []operation.Attempt { return h.attempts[number] }

// add adds attempts of earlier processes, each call's in their order.
func (h *history) add(attempts []operation.Attempt) {
	h.attempts = map[int][]operation.Attempt{}
	for _, a := range attempts {
		h.attempts[a.Call] = append(h.attempts[a.Call], a)
	}
}

// next is the first attempt of the next call that an earlier process made beyond those so far.
func (h *history) next() (first operation.Attempt, ok bool) {
	for number, past := range h.attempts {
		if number > h.numbered && (!ok || number < first.Call) {
			first, ok = past[0], true
		}
	}
	return first, ok
}

// further makes the calls for slots. Those to the model that an earlier process made beyond
// the calls so far are continued as they were.
func (h *history) further(p *plan.Plan, slots []int) []call {
	var calls []call
	for a, ok := h.next(); ok && a.Provider == p.Model.Provider && a.APIModel == p.Model.APIModel; a, ok = h.next() {
		h.numbered = a.Call
		calls = append(calls, call{plan: p, number: a.Call, slots: a.Slots})
		slots = slices.DeleteFunc(slices.Clone(slots), func(index int) bool { return slices.Contains(a.Slots, index) })
	}
	return append(calls, h.split(p, slots)...)
}

// split splits slots into calls, numbered after those so far.
func (h *history) split(p *plan.Plan, slots []int) []call {
	var calls []call
	for _, n := range plan.Split(len(slots), p.Model.MaxN) {
		h.numbered++
		calls = append(calls, call{plan: p, number: h.numbered, slots: slots[:n]})
		slots = slots[n:]
	}
	return calls
}

// skip numbers further calls after all that earlier processes made.
func (h *history) skip() {
	for number := range h.attempts {
		h.numbered = max(h.numbered, number)
	}
}

// open lists the newest attempts of calls beyond those so far that have not finished.
func (h *history) open() (list []operation.Attempt) {
	for _, past := range h.attempts {
		if a := past[len(past)-1]; a.Call > h.numbered && a.FinishedAt.IsZero() {
			list = append(list, a)
		}
	}
	return list
}

// reason is why an attempt was made at results that another model was asked for before;
// empty if that is not known.
func (h *history) reason(a operation.Attempt) string {
	var before operation.Attempt
	for number, past := range h.attempts {
		last := past[len(past)-1]
		shared := slices.ContainsFunc(last.Slots, func(index int) bool { return slices.Contains(a.Slots, index) })
		if number < a.Call && number > before.Call && shared && last.Error != nil {
			before = last
		}
	}
	if before.Error == nil {
		return ""
	}
	return before.Error.Message
}

// take removes one of the blobs and returns it: the newest or the oldest.
func (h *history) take(newest bool) (media.Blob, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.blobs) == 0 {
		return media.Blob{}, false
	}
	at := 0
	if newest {
		at = len(h.blobs) - 1
	}
	b := h.blobs[at]
	h.blobs = slices.Delete(h.blobs, at, at+1)
	return b, true
}
