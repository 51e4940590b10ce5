package gateway

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/generate/operation"
	"atelier/generate/plan"
	"atelier/media"
)

// settle ends a slot.
func settle(b *slotTable, index int, s generate.Slot) {
	s.Index = index
	s.Status = b.notes.next(operation.SubjectSlot, b.slot(index).Status, slotEnd(s))
	b.put(s)
}

func failed(c media.Code) generate.Slot { return generate.Slot{Error: &generate.SlotError{Code: c}} }

func textSlot(text string) generate.Slot {
	return generate.Slot{Output: &media.Output{Blob: media.Blob{Digest: media.DigestOf([]byte(text))}}}
}

// TestBoardEnds: the slots determine how an operation ends.
func TestBoardEnds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		slots   []generate.Slot
		stopped bool
		want    operation.Event
	}{
		"all came":             {[]generate.Slot{textSlot("a"), textSlot("b")}, false, operation.EventSucceed},
		"all came, too late":   {[]generate.Slot{textSlot("a"), textSlot("b")}, true, operation.EventSucceed},
		"one came":             {[]generate.Slot{textSlot("a"), failed(media.CodeModerated)}, false, operation.EventSucceedInPart},
		"one came, then stop":  {[]generate.Slot{textSlot("a"), failed(media.CodeUnavailable)}, true, operation.EventCancel},
		"one was cancelled":    {[]generate.Slot{textSlot("a"), failed(media.CodeCancelled)}, false, operation.EventCancel},
		"all were moderated":   {[]generate.Slot{failed(media.CodeModerated), failed(media.CodeModerated)}, false, operation.EventModerate},
		"one failed otherwise": {[]generate.Slot{failed(media.CodeModerated), failed(media.CodeUnavailable)}, false, operation.EventFail},
	} {
		b := newBoard(len(c.slots), &notes{})
		for i, s := range c.slots {
			settle(b, i+1, s)
		}
		if got := b.end(c.stopped); got != c.want {
			t.Errorf("%s: it ends by %s, want %s", name, got, c.want)
		}
		if w := b.notes.shown(); len(w) > 0 {
			t.Errorf("%s: %q", name, w)
		}
	}
}

// TestBoardAsksNothingTwice: a result that arrived, may have been billed or fails with every model is in neither list.
func TestBoardAsksNothingTwice(t *testing.T) {
	t.Parallel()
	b := newBoard(6, &notes{})
	settle(b, 1, textSlot("a"))
	settle(b, 2, failed(media.CodeUnavailable))
	settle(b, 3, failed(media.CodeUnavailable))
	settle(b, 4, failed(media.CodeInvalid))
	settle(b, 5, failed(media.CodeModerated))
	b.change(func(s *slotState) { s.unbilled = true }, 1, 2, 3)
	b.markUnsettled([]int{3})
	if got := b.repeatable(); !cmp.Equal(got, []int{2}) {
		t.Errorf("the same model is asked for %v, want 2", got)
	}
	if got, reason := b.missing(); !cmp.Equal(got, []int{2, 5}) || reason == nil || reason.Code != media.CodeUnavailable {
		t.Errorf("another model is asked for %v because of %+v, want 2 and 5", got, reason)
	}
	if b.targets = []int{1, 5}; b.repeatable() != nil {
		t.Error("a slot of an earlier round is asked for")
	}
	if b.settled([]int{5, 6}) || !b.settled([]int{1, 5}) {
		t.Error("slot 6 alone is not settled")
	}
}

// TestExtraResults: a result beyond the requested number gets one slot of its own.
func TestExtraResults(t *testing.T) {
	t.Parallel()
	b := newBoard(1, &notes{})
	settle(b, 1, textSlot("a"))
	if b.extraOf(textSlot("a").Output.Blob) != 0 {
		t.Error("a requested slot counts as an extra one")
	}
	index := b.add(operation.EventExtra)
	settle(b, index, textSlot("b"))
	if got := b.extraOf(textSlot("b").Output.Blob); index != 2 || got != index {
		t.Errorf("the extra result has slot %d and is found in %d", index, got)
	}
}

// TestMakers: each model is listed once with its results, the operation's own model first.
func TestMakers(t *testing.T) {
	t.Parallel()
	own, other := &plan.Plan{Model: catalog.Model{Provider: "a", APIModel: "1"}}, &plan.Plan{Model: catalog.Model{Provider: "b", APIModel: "1"}}
	again := *other
	b := newBoard(4, &notes{})
	for i, p := range []*plan.Plan{other, own, &again} {
		settle(b, i+1, textSlot(string(rune('a'+i))))
		b.change(func(s *slotState) { s.maker = p }, i+1)
	}
	b.change(func(s *slotState) { s.maker = own }, 4) // without a result
	var got [][]int
	for _, m := range b.makersOf(own) {
		got = append(got, m.slots)
	}
	if want := [][]int{{2}, {1, 3}}; !cmp.Equal(got, want) {
		t.Errorf("the models gave %v, want %v", got, want)
	}
}
