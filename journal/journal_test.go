package journal_test

import (
	"slices"
	"testing"

	"atelier/journal"
	"atelier/journal/journaltest"
)

// memory runs workflows on the journal that remembers nothing.
type memory struct{}

func (memory) Run(t *testing.T, _ string, work journaltest.Work) {
	t.Helper()
	if err := work(t.Context(), journal.Memory{}); err != nil {
		t.Fatal(err)
	}
}

func TestMemory(t *testing.T) {
	t.Parallel()
	journaltest.Run(t, journaltest.Config{Open: func(*testing.T) journaltest.Place { return memory{} }})
}

func TestIDsSortInTheirOrder(t *testing.T) {
	t.Parallel()
	const root = "019ba3f2-1c00-7fff-bfff-ffffffffffff"
	ids := []string{root}
	for _, at := range [][2]int{{0, 0}, {0, 1}, {1, 0}, {1, 255}, {1, 4095}, {2, 0}, {200, 3}, {4095, 1}} {
		id, ok := journal.ID(root, "act", at[0], at[1])
		if !ok || len(id) != 36 || id[14] != '7' {
			t.Fatalf("id %q, %v", id, ok)
		}
		ids = append(ids, id)
	}
	if !slices.IsSorted(ids) {
		t.Errorf("ids are not in order: %q", ids)
	}
	again, _ := journal.ID(root, "act", 1, 255)
	other, _ := journal.ID(root, "prompt", 1, 255)
	if again != ids[4] || other == again {
		t.Errorf("ids %q, %q and %q", ids[4], again, other)
	}
	for _, bad := range []string{"", "run-1", "019ba3f2-1c00-4fff-bfff-ffffffffffff"} {
		if id, ok := journal.ID(bad, "act", 1, 1); ok {
			t.Errorf("%q gave %q", bad, id)
		}
	}
}
