package main

import (
	"strings"
	"testing"
)

func TestGrey(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if err := grey(t.Context(), t.TempDir(), &out); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "96 × 64"); n != 3 {
		t.Errorf("%d pictures:\n%s", n, out.String())
	}
}
