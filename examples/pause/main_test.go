package main

import (
	"strings"
	"testing"

	"atelier"
)

func TestPauseAndResume(t *testing.T) {
	t.Parallel()
	config := atelier.Config{Dir: t.TempDir()}
	var out strings.Builder
	id, err := begin(t.Context(), config, &out)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(out.String(), id+" waits: ") {
		t.Fatal(out.String())
	}
	out.Reset()
	if err := resume(t.Context(), config, id, true, &out); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(out.String(), "succeeded: ") || !strings.Contains(out.String(), "(1 pictures)") {
		t.Error(out.String())
	}
}
