package goruntime_test

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"atelier/internal/goruntime"
)

const childMark = "ATELIER_TEST_TUNE"

// TestTune checks the settings in separate processes.
func TestTune(t *testing.T) {
	t.Parallel()
	if os.Getenv(childMark) != "" {
		before := runtime.GOMAXPROCS(0)
		goruntime.Tune()
		start, startLimit := settings()
		runtime.GC()
		gc, limit := settings()
		for wait := 0; gc != 50 && start == -1 && wait < 1000; wait++ { // a cleanup runs some time after the collection
			time.Sleep(10 * time.Millisecond)
			gc, limit = settings()
		}
		fmt.Printf("procs %d %d start %d %d gc %d %d\n", before, runtime.GOMAXPROCS(0), start, startLimit, gc, limit)
		return
	}
	own := settingsOf(t)
	var before, after int
	if _, err := fmt.Sscanf(own, "procs %d %d", &before, &after); err != nil || after != before+min(before, 8) {
		t.Errorf("%q, %v", own, err)
	}
	if _, rest, _ := strings.Cut(own, " start "); rest != fmt.Sprintf("-1 %d gc 50 %d", 32<<20, math.MaxInt64) {
		t.Errorf("collection: %q", own)
	}
	if got, want := settingsOf(t, "GOMAXPROCS=3", "GOGC=200"), fmt.Sprintf("procs 3 3 start 200 %[1]d gc 200 %[1]d", math.MaxInt64); got != want {
		t.Errorf("with the variables set: %q, not %q", got, want)
	}
	if got, want := settingsOf(t, "GOMAXPROCS=3", "GOMEMLIMIT=1GiB"), fmt.Sprintf("procs 3 3 start 50 %[1]d gc 50 %[1]d", 1<<30); got != want {
		t.Errorf("with a limit: %q, not %q", got, want)
	}
}

// settings returns the percentage and the limit of garbage collection.
func settings() (percent int, limit int64) {
	percent = debug.SetGCPercent(-1)
	debug.SetGCPercent(percent)
	return percent, debug.SetMemoryLimit(-1)
}

func settingsOf(t *testing.T, env ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestTune$")
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "GOMAXPROCS=") && !strings.HasPrefix(e, "GOGC=") && !strings.HasPrefix(e, "GOMEMLIMIT=") {
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
