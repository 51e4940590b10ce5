package gateway

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/generate/operation"
	"atelier/generate/plan"
	"atelier/media"
)

// TestHistoryContinuesCalls: an earlier process's calls to the same model keep their numbers and slots, further calls
// are numbered after them, and a call to another model ends both.
func TestHistoryContinuesCalls(t *testing.T) {
	t.Parallel()
	first := &plan.Plan{Model: catalog.Model{Provider: "a", APIModel: "1", SettingRules: catalog.SettingRules{MaxN: 2}}}
	next := &plan.Plan{Model: catalog.Model{Provider: "b", APIModel: "1", SettingRules: catalog.SettingRules{MaxN: 1}}}
	h := &history{}
	h.add([]operation.Attempt{
		{Call: 1, Number: 1, Provider: "a", APIModel: "1", Slots: []int{1, 2}, Error: &generate.SlotError{Code: media.CodeUnavailable, Message: "away"}, FinishedAt: time.Unix(1, 0)},
		{Call: 2, Number: 1, Provider: "a", APIModel: "1", Slots: []int{3}},
		{Call: 3, Number: 1, Provider: "b", APIModel: "1", Slots: []int{2}},
	})
	numbers := func(calls []call) (list [][]int) {
		for _, c := range calls {
			list = append(list, append([]int{c.number}, c.slots...))
		}
		return list
	}
	if got, want := numbers(h.split(first, []int{1, 2})), [][]int{{1, 1, 2}}; !cmp.Equal(got, want) {
		t.Fatalf("the calls of the operation are %v, want %v", got, want)
	}
	if got, want := numbers(h.nextCalls(first, []int{3})), [][]int{{2, 3}}; !cmp.Equal(got, want) {
		t.Errorf("calls to the same model are %v, want %v", got, want)
	}
	if a, ok := h.next(); !ok || a.Call != 3 {
		t.Errorf("the next call of the earlier process is %d, want 3", a.Call)
	}
	if open := h.open(); len(open) != 1 || open[0].Call != 3 {
		t.Errorf("calls that have not ended: %+v", open)
	}
	if got, want := numbers(h.nextCalls(next, []int{1, 2})), [][]int{{3, 2}, {4, 1}}; !cmp.Equal(got, want) {
		t.Errorf("calls to the next model are %v, want %v", got, want)
	}
	if got := h.reason(h.attempts[3][0]); got != "away" {
		t.Errorf("the next model was asked because of %q", got)
	}
	if _, ok := h.next(); ok {
		t.Error("there is one call more")
	}
}

// TestHistoryGivesBlobsOnce: each blob in no slot is returned once: the oldest, or the newest if it may be a preview.
func TestHistoryGivesBlobsOnce(t *testing.T) {
	t.Parallel()
	blob := func(s string) media.Blob { return media.Blob{Digest: media.DigestOf([]byte(s))} }
	h := &history{blobs: []media.Blob{blob("a"), blob("b"), blob("c")}}
	var got []media.Digest
	for _, newest := range []bool{true, false, false} {
		b, ok := h.take(newest)
		if !ok {
			t.Fatal("a blob is missing")
		}
		got = append(got, b.Digest)
	}
	if want := []media.Digest{blob("c").Digest, blob("a").Digest, blob("b").Digest}; !slices.Equal(got, want) {
		t.Errorf("blobs come in the order %v, want %v", got, want)
	}
	if _, ok := h.take(false); ok {
		t.Error("a blob is given twice")
	}
}
