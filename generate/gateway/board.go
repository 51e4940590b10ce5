package gateway

import (
	"slices"
	"sync"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/generate/operation"
	"atelier/generate/plan"
	"atelier/media"
)

// board has the slots of an operation and what is known of each: the plan that filled it, whether its
// call may have been billed, and whether it may be asked for again. Slots are numbered from 1; those
// beyond the number that was requested are extra results, which providers gave unasked. A slot is
// read and written as a whole. board is safe for concurrent use and saves nothing.
type board struct {
	requested int   // slots that the request has
	asked     []int // slots that are asked for: all, or those of this round
	notes     *notes

	mu        sync.Mutex      // guards all below
	slots     []generate.Slot // by index - 1
	makers    map[int]*plan.Plan
	unsettled map[int]bool // slots whose call may have been billed
	unbilled  map[int]bool // slots whose result alone failed, unbilled
	formats   formats
}

// newBoard makes the board of a request for n results, all of them asked for.
func newBoard(n int, log *notes) *board {
	b := &board{requested: n, notes: log, makers: map[int]*plan.Plan{}, unsettled: map[int]bool{}, unbilled: map[int]bool{}}
	b.extend(n)
	for i := range n {
		b.asked = append(b.asked, i+1)
	}
	return b
}

// extend adds slots up to an index.
func (b *board) extend(index int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.slots) < index {
		s := generate.Slot{Index: len(b.slots) + 1}
		s.Status = b.notes.next(operation.SubjectSlot, s.Status, operation.EventGenerate)
		b.slots = append(b.slots, s)
	}
}

// extra adds a slot for a result beyond those requested, and gives its index.
func (b *board) extra() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := generate.Slot{Index: len(b.slots) + 1}
	s.Status = b.notes.next(operation.SubjectSlot, s.Status, operation.EventExtra)
	b.slots = append(b.slots, s)
	return s.Index
}

// slot gives a slot as it is.
func (b *board) slot(index int) generate.Slot {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.slots[index-1]
}

// all gives every slot as it is.
func (b *board) all() []generate.Slot {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.slots)
}

// put replaces a slot.
func (b *board) put(s generate.Slot) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.slots[s.Index-1] = s
}

// credit notes the plan that filled a slot.
func (b *board) credit(index int, p *plan.Plan) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.makers[index] = p
}

// mark notes whether a slot's result alone failed and was not billed.
func (b *board) mark(index int, unbilled bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.unbilled[index] = unbilled
}

// doubt notes that the call of slots may have been billed.
func (b *board) doubt(slots []int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, index := range slots {
		b.unsettled[index] = true
	}
}

// extraOf finds the extra slot that has a blob already; 0 if none has.
func (b *board) extraOf(blob media.Blob) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.slots[min(b.requested, len(b.slots)):] {
		if s.Output != nil && s.Output.Digest == blob.Digest {
			return s.Index
		}
	}
	return 0
}

// settled reports whether each of these slots has a result or an error.
func (b *board) settled(slots []int) bool {
	return !slices.ContainsFunc(slots, func(index int) bool { s := b.slot(index); return s.Output == nil && s.Error == nil })
}

// cancelled reports whether each of these slots was cancelled.
func (b *board) cancelled(slots []int) bool {
	return !slices.ContainsFunc(slots, func(index int) bool { return b.slot(index).Status != generate.StatusCancelled })
}

// empty reports whether no slot has a result.
func (b *board) empty() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return !slices.ContainsFunc(b.slots, func(s generate.Slot) bool { return s.Output != nil })
}

// repeatable lists the slots that the same model may be asked for again without a second bill.
func (b *board) repeatable() (list []int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, index := range b.asked {
		if b.slots[index-1].Output == nil && b.unbilled[index] && !b.unsettled[index] {
			list = append(list, index)
		}
	}
	return list
}

// missing lists the slots that another model may fill, and the first reason.
func (b *board) missing() (list []int, why *generate.SlotError) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, index := range b.asked {
		s := b.slots[index-1]
		if s.Output != nil || s.Error == nil || s.Status == generate.StatusRunning || b.unsettled[s.Index] || !replaceable(s.Error.Code) {
			continue
		}
		list = append(list, s.Index)
		if why == nil {
			why = s.Error
		}
	}
	return list, why
}

// replaceable reports whether another provider may succeed where one gave this error.
func replaceable(c media.Code) bool {
	return !slices.Contains([]media.Code{
		media.CodeInvalid, media.CodeTooLarge, media.CodeCancelled, media.CodeDiskFull, media.CodeInternal, media.CodeConflict,
	}, c)
}

// makersOf lists the models that gave results, that of the operation's own plan first.
func (b *board) makersOf(own *plan.Plan) (list []maker) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.slots {
		p := b.makers[s.Index]
		if s.Output == nil || p == nil {
			continue
		}
		i := slices.IndexFunc(list, func(m maker) bool {
			return m.plan.Model.Provider == p.Model.Provider && m.plan.Model.APIModel == p.Model.APIModel
		})
		switch {
		case i >= 0:
			list[i].slots = append(list[i].slots, s.Index)
		case p == own:
			list = slices.Insert(list, 0, maker{p, []int{s.Index}})
		default:
			list = append(list, maker{p, []int{s.Index}})
		}
	}
	return list
}

// pictures are the sizes of the pictures that came where a size, a ratio or a tier was asked for; those
// without a known plan are of the operation's own.
func (b *board) pictures(own *plan.Plan) (list []received) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.slots {
		if o := s.Output; o != nil && o.Modality == media.ModalityImage && o.Width > 0 && o.Height > 0 {
			p := own
			if by := b.makers[s.Index]; by != nil {
				p = by
			}
			if t := p.Task; t.Width > 0 || t.AspectRatio != "" || t.Tier != "" {
				list = append(list, received{catalog.Sides{W: o.Width, H: o.Height}, p})
			}
		}
	}
	return list
}

// cameIn notes what became of the requested output format.
func (b *board) cameIn(change func(*formats)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change(&b.formats)
}

// came is what became of the requested output format.
func (b *board) came() formats {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.formats
}

// end sums up the slots of an operation that no task works on; stopped means that it was cancelled.
func (b *board) end(stopped bool) operation.Event {
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

// failure is the first slot's error if no slot succeeded.
func (b *board) failure() (first *generate.SlotError) {
	for _, s := range b.all() {
		if s.Output != nil {
			return nil
		}
		if first == nil {
			first = s.Error
		}
	}
	return first
}
