package generatetest_test

import (
	"testing"

	"atelier/generate"
	"atelier/generate/generatetest"
	"atelier/generate/operation"
)

// TestLogRefusesWhatCannotFollow: a save that the table of transitions does not allow panics.
func TestLogRefusesWhatCannotFollow(t *testing.T) {
	t.Parallel()
	log := &generatetest.Log{}
	op := operation.Operation{ID: "op", Status: generate.StatusQueued}
	if err := log.Begin(t.Context(), op); err != nil {
		t.Fatal(err)
	}
	for name, save := range map[string]func() error{
		"an operation that begins at work": func() error {
			return log.Begin(t.Context(), operation.Operation{ID: "two", Status: generate.StatusRunning})
		},
		"a call that succeeded unsent": func() error {
			return log.Attempt(t.Context(), operation.Attempt{ID: "a", Status: generate.StatusSucceeded})
		},
		"a slot in part": func() error {
			return log.SlotDone(t.Context(), "op", generate.Slot{Index: 1, Status: generate.StatusPartial})
		},
		"an operation that is new": func() error { return log.Finish(t.Context(), operation.Operation{ID: "op"}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s was saved", name)
				}
			}()
			_ = save() // panics before it returns
		}()
	}
}
