package goruntime_test

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"atelier/internal/goruntime"
)

const childMark = "ATELIER_TEST_TUNE"

// TestTune checks the settings in separate processes.
func TestTune(t *testing.T) {
	t.Parallel()
	if os.Getenv(childMark) != "" {
		before := runtime.GOMAXPROCS(0)
		goruntime.Tune()
		fmt.Printf("procs %d %d gc %d\n", before, runtime.GOMAXPROCS(0), debug.SetGCPercent(-1))
		return
	}
	own := tuned(t)
	var before, after, gc int
	if _, err := fmt.Sscanf(own, "procs %d %d gc %d", &before, &after, &gc); err != nil || after != before+min(before, 8) || gc != 50 {
		t.Errorf("%q, %v", own, err)
	}
	if got := tuned(t, "GOMAXPROCS=3", "GOGC=200"); got != "procs 3 3 gc 200" {
		t.Errorf("with the variables set: %q", got)
	}
}

func tuned(t *testing.T, env ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestTune$")
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "GOMAXPROCS=") && !strings.HasPrefix(e, "GOGC=") {
			cmd.Env = append(cmd.Env, e)
		}
	}
	cmd.Env = append(cmd.Env, append(env, childMark+"=1")...)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return line
}
