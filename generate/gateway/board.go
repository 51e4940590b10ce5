package gateway

import (
	"cmp"
	"slices"
	"sync"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/generate/operation"
	"atelier/generate/plan"
	"atelier/media"
)

// slotTable holds the slots of an operation. Slots are numbered from 1; those above the requested number are extra
// results, which providers returned unrequested. slotTable is safe for concurrent use and saves nothing.
type slotTable struct {
	requested int   // slots that the request has
	targets   []int // slots to fill: all, or those of this round
	notes     *notes

	mu      sync.Mutex  // guards all below
	slots   []slotState // by index - 1
	formats formats     // read when no call is in progress any more
}

// slotState is a slot and what is known of it.
type slotState struct {
	generate.Slot
	maker     *plan.Plan // the plan that filled it
	unsettled bool       // its call may have been billed
	unbilled  bool       // its result alone failed and was not billed
}

func newBoard(n int, log *notes) *slotTable {
	b := &slotTable{requested: n, notes: log, targets: upTo(n)}
	b.extend(n)
	return b
}

func (b *slotTable) extend(index int) {
	for len(b.all()) < index {
		b.add(operation.EventGenerate)
	}
}

func (b *slotTable) add(e operation.Event) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := generate.Slot{Index: len(b.slots) + 1}
	s.Status = b.notes.next(operation.SubjectSlot, s.Status, e)
	b.slots = append(b.slots, slotState{Slot: s})
	return s.Index
}

func (b *slotTable) slot(index int) generate.Slot { return b.all()[index-1].Slot }

func (b *slotTable) all() []slotState {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.slots)
}

func (b *slotTable) put(s generate.Slot) { b.change(func(o *slotState) { o.Slot = s }, s.Index) }

func (b *slotTable) markUnsettled(slots []int) {
	b.change(func(s *slotState) { s.unsettled = true }, slots...)
}

func (b *slotTable) change(change func(*slotState), slots ...int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, index := range slots {
		change(&b.slots[index-1])
	}
}

// extraOf returns the index of the extra slot that already has a blob; 0 if none has.
func (b *slotTable) extraOf(blob media.Blob) int {
	for _, s := range b.all()[b.requested:] {
		if s.Output != nil && s.Output.Digest == blob.Digest {
			return s.Index
		}
	}
	return 0
}

func (b *slotTable) settled(slots []int) bool {
	return !slices.ContainsFunc(slots, func(index int) bool { s := b.slot(index); return s.Output == nil && s.Error == nil })
}

// repeatable returns the slots that the same model can be asked for again without a second bill.
func (b *slotTable) repeatable() (list []int) {
	all := b.all()
	for _, index := range b.targets {
		if s := all[index-1]; s.Output == nil && s.unbilled && !s.unsettled {
			list = append(list, index)
		}
	}
	return list
}

// unrecoverableCodes are the errors of one provider after which another provider would fail as well.
var unrecoverableCodes = []media.Code{
	media.CodeInvalid, media.CodeTooLarge, media.CodeCancelled, media.CodeDiskFull, media.CodeInternal, media.CodeConflict,
}

// missing returns the slots that another model may fill, and the first reason.
func (b *slotTable) missing() (list []int, reason *generate.SlotError) {
	all := b.all()
	for _, index := range b.targets {
		s := all[index-1]
		if s.Output != nil || s.Error == nil || s.Status == generate.StatusRunning || s.unsettled || slices.Contains(unrecoverableCodes, s.Error.Code) {
			continue
		}
		list = append(list, s.Index)
		reason = cmp.Or(reason, s.Error)
	}
	return list, reason
}

// makersOf returns the models that made results, the model of the operation's own plan first.
func (b *slotTable) makersOf(own *plan.Plan) (list []maker) {
	for _, s := range b.all() {
		if s.Output == nil || s.maker == nil {
			continue
		}
		i := slices.IndexFunc(list, func(m maker) bool {
			return m.plan.Model.Provider == s.maker.Model.Provider && m.plan.Model.APIModel == s.maker.Model.APIModel
		})
		switch {
		case i >= 0:
			list[i].slots = append(list[i].slots, s.Index)
		case s.maker == own:
			list = slices.Insert(list, 0, maker{own, []int{s.Index}})
		default:
			list = append(list, maker{s.maker, []int{s.Index}})
		}
	}
	return list
}

// pictures returns the sizes of the received pictures for which a size, a ratio or a tier was requested. Pictures
// without a known plan belong to the operation's own plan.
func (b *slotTable) pictures(own *plan.Plan) (list []received) {
	for _, s := range b.all() {
		p := cmp.Or(s.maker, own)
		o, t := s.Output, p.Task
		if o != nil && o.Modality == media.ModalityImage && o.Width > 0 && o.Height > 0 && (t.Width > 0 || t.AspectRatio != "" || t.Tier != "") {
			list = append(list, received{catalog.Sides{W: o.Width, H: o.Height}, p})
		}
	}
	return list
}

// noteFormat records how the requested output format was met.
func (b *slotTable) noteFormat(change func(*formats)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change(&b.formats)
}

// end returns the event that ends an operation without tasks in progress; stopped means that it was cancelled.
func (b *slotTable) end(stopped bool) operation.Event {
	all, count := b.all(), map[generate.Status]int{}
	for _, s := range all {
		count[s.Status]++
	}
	switch {
	case count[generate.StatusCancelled] > 0, stopped && count[generate.StatusSucceeded] < len(all):
		return operation.EventCancel
	case count[generate.StatusSucceeded] == len(all):
		return operation.EventSucceed
	case count[generate.StatusSucceeded] > 0:
		return operation.EventSucceedInPart
	case count[generate.StatusModerated] > 0 && count[generate.StatusFailed] == 0:
		return operation.EventModerate
	}
	return operation.EventFail
}

// failure returns the first error of an operation without results; nil if there are results.
func (b *slotTable) failure() (first *generate.SlotError) {
	for _, s := range b.all() {
		if s.Output != nil {
			return nil
		}
		first = cmp.Or(first, s.Error)
	}
	return first
}

// history holds the calls of an operation: those of earlier processes, and the number of the newest call that this
// process makes or continues. Further calls are numbered from there, so that a call of an earlier process is continued
// under its number and not made twice. Only the goroutine that plans calls changes the numbers; take is safe for
// concurrent use.
type history struct {
	attempts   map[int][]operation.Attempt // of earlier processes, by call
	lastNumber int                         // calls so far

	mu    sync.Mutex   // guards blobs
	blobs []media.Blob // stored by an earlier process and not yet in a slot, oldest first
}

func (h *history) add(attempts []operation.Attempt) {
	h.attempts = map[int][]operation.Attempt{}
	for _, a := range attempts {
		h.attempts[a.Call] = append(h.attempts[a.Call], a)
	}
}

// next returns the first attempt of the next call that an earlier process made beyond those so far.
func (h *history) next() (first operation.Attempt, ok bool) {
	for number, past := range h.attempts {
		if number > h.lastNumber && (!ok || number < first.Call) {
			first, ok = past[0], true
		}
	}
	return first, ok
}

// nextCalls returns the calls for slots. Further calls of an earlier process to this model are continued unchanged.
func (h *history) nextCalls(p *plan.Plan, slots []int) []call {
	var calls []call
	for a, ok := h.next(); ok && a.Provider == p.Model.Provider && a.APIModel == p.Model.APIModel; a, ok = h.next() {
		h.lastNumber = a.Call
		calls = append(calls, call{plan: p, number: a.Call, slots: a.Slots})
		slots = slices.DeleteFunc(slices.Clone(slots), func(index int) bool { return slices.Contains(a.Slots, index) })
	}
	return append(calls, h.split(p, slots)...)
}

// split splits slots into calls, numbered after those so far.
func (h *history) split(p *plan.Plan, slots []int) []call {
	var calls []call
	for _, n := range plan.Split(len(slots), p.Model.MaxN) {
		h.lastNumber++
		calls = append(calls, call{plan: p, number: h.lastNumber, slots: slots[:n]})
		slots = slots[n:]
	}
	return calls
}

// open returns the newest attempts of unfinished calls beyond those so far.
func (h *history) open() (list []operation.Attempt) {
	for _, past := range h.attempts {
		if a := past[len(past)-1]; a.Call > h.lastNumber && a.FinishedAt.IsZero() {
			list = append(list, a)
		}
	}
	return list
}

// reason returns why an attempt requested results that another model was asked for before; empty if unknown.
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
