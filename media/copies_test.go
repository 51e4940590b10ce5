package media

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
)

// idle is a reader that returns no bytes and never ends.
type idle struct{}

func (idle) Read([]byte) (int, error) { return 0, nil }

func TestResolveGivesUpOnAnIdleReader(t *testing.T) {
	t.Parallel()
	err := Resolve(io.Discard, io.MultiReader(strings.NewReader("a$"), idle{}), func(io.Writer, Ref) error { return nil })
	if !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("got %v, want io.ErrNoProgress", err)
	}
}

// writes counts the writes that reach a file.
type writes int

func (w *writes) Write(p []byte) (int, error) {
	*w++
	return len(p), nil
}

// Prices, shell text and formulas contain many dollar signs; each must not cause a separate write.
func TestResolveWritesTextInOnePiece(t *testing.T) {
	t.Parallel()
	var n writes
	text := strings.Repeat("$5 $$x ${y} ", 10_000) // 120 KB, two buffers
	if err := Resolve(&n, strings.NewReader(text), func(io.Writer, Ref) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if n > 4 {
		t.Errorf("%d writes for two buffers of text", n)
	}
}

func TestErrorfHandsOnWhatItsCauseKnows(t *testing.T) {
	t.Parallel()
	limited := &Error{Code: CodeRateLimited, Message: "slow down", Retryable: true, RetryAfter: 7 * time.Second}
	final := &Error{Code: CodeUnavailable, Message: "gone for good"}
	unknown := &Error{Code: CodeUnknownRef, Message: "which?", Retryable: true, Valid: []string{"img-7k3m9q2x"}}
	if e := Errorf(CodeRateLimited, "call: %w", fmt.Errorf("twice: %w", limited)); !e.Retryable || e.RetryAfter != 7*time.Second {
		t.Errorf("%+v", e)
	}
	if e := Errorf(CodeUnavailable, "call: %w", final); e.Retryable {
		t.Error("a cause that is not retryable became retryable")
	}
	if e := Errorf(CodeUnknownRef, "edit: %w", unknown); !e.Retryable || len(e.Valid) != 1 {
		t.Errorf("%+v", e)
	}
	if e := Errorf(CodeInvalid, "edit: %w", limited); e.Retryable || e.RetryAfter != 0 {
		t.Errorf("another code took over what its cause knew: %+v", e)
	}
	one, two := errors.New("one"), errors.New("two")
	if e := Errorf(CodeInternal, "%w and %w", one, two); !errors.Is(e, one) || !errors.Is(e, two) {
		t.Errorf("a cause of two is lost: %+v", e)
	}
}

func TestFinalItemReplacesItsPartial(t *testing.T) {
	t.Parallel()
	var s Set
	partial := item("a", "")
	partial.Partial = true
	final := item("a", "")
	final.ID = "0198"
	for _, o := range []Output{partial, final, partial} {
		if _, err := s.Add(o); err != nil {
			t.Fatal(err)
		}
	}
	if got, _ := s.Lookup(final.Ref); got.Partial || got.ID != "0198" {
		t.Errorf("partial %t, id %q", got.Partial, got.ID)
	}
}

func TestItemsAreCopies(t *testing.T) {
	t.Parallel()
	var s Set
	o := item("a", "")
	o.Metadata = map[string]any{"model": "m"}
	added, err := s.Add(o)
	if err != nil {
		t.Fatal(err)
	}
	found, _ := s.Lookup(o.Ref)
	labelled, _ := s.Apply(Change{Kind: ChangeLabel, Ref: o.Ref, Label: "l"})
	for _, m := range []map[string]any{o.Metadata, added.Metadata, found.Metadata, labelled.Metadata, s.All()[0].Metadata} {
		m["model"] = "changed"
	}
	if got := s.All()[0].Metadata["model"]; got != "m" {
		t.Errorf("the set's own metadata became %v", got)
	}
}
