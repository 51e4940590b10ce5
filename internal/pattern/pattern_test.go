package pattern_test

import (
	"testing"

	"atelier/internal/pattern"
)

func TestLazy(t *testing.T) {
	t.Parallel()
	digits := pattern.Lazy(`^[0-9]+$`)
	if !digits().MatchString("42") || digits().MatchString("x") {
		t.Error("the expression does not match as written")
	}
	if first := digits(); first != digits() {
		t.Error("the expression is compiled twice")
	}
}

func TestLazyLongest(t *testing.T) {
	t.Parallel()
	if got := pattern.LazyLongest(`a|ab`)().FindString("ab"); got != "ab" {
		t.Errorf("found %q, want the longest match", got)
	}
	if got := pattern.Lazy(`a|ab`)().FindString("ab"); got != "a" {
		t.Errorf("found %q, want the first match", got)
	}
}

func TestLazyInvalid(t *testing.T) {
	t.Parallel()
	invalid := pattern.Lazy(`(`)
	defer func() {
		if recover() == nil {
			t.Error("an invalid expression does not panic")
		}
	}()
	invalid()
}
