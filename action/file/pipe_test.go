//go:build unix

package file

import (
	"context"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"atelier/action"
	"atelier/media"
)

// TestAPipeIsNotRead: reading a named pipe would wait for a writer.
func TestAPipeIsNotRead(t *testing.T) {
	t.Parallel()
	f, dir := folder(t, map[string]string{"a.log": "one"})
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, run := range map[string]func(context.Context, *action.Call) (action.Result, error){"list": f.list, "search": f.search} {
		failed := make(chan error, 1)
		go func() {
			_, err := run(t.Context(), &action.Call{Params: map[string]any{"Path": "pipe", "Pattern": "pip?", "MaxMatches": 1.0}})
			failed <- err
		}()
		select {
		case err := <-failed:
			if media.CodeOf(err) != media.CodeInvalid || !strings.Contains(err.Error(), "not a regular file") {
				t.Errorf("%s: %v", name, err)
			}
		case <-time.After(5 * time.Second):
			t.Errorf("%s waits", name)
		}
	}
}
