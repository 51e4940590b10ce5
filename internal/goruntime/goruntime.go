// Package goruntime configures the Go runtime for a process that streams media: much data passes
// through it, little is kept. It imports only the standard library.
package goruntime

import (
	"os"
	"runtime"
	"runtime/debug"
)

const (
	// spareProcessors is the maximum number of additional Go processors.
	spareProcessors = 8
	// collectAt is the growth of the live heap, in percent, after which it is collected.
	collectAt = 50
	// startMemory is the memory of the Go runtime, in bytes, at which the first collection starts.
	startMemory = 32 << 20
)

// Tune doubles the number of Go processors, adding at most eight, and makes garbage collection start earlier, but for
// the first time only when the process has 32 MiB: otherwise a short command spends up to a third of its processor time
// collecting a heap that it is still building. The runtime notices only after some time that a thread waits for the
// disk; spare processors let other work continue meanwhile. The variables GOMAXPROCS, GOGC and GOMEMLIMIT take
// precedence. Call it once, at the start of main.
func Tune() {
	if os.Getenv("GOMAXPROCS") == "" {
		have := runtime.GOMAXPROCS(0)
		runtime.GOMAXPROCS(have + min(have, spareProcessors))
	}
	if os.Getenv("GOGC") != "" {
		return
	}
	if os.Getenv("GOMEMLIMIT") != "" {
		debug.SetGCPercent(collectAt)
		return
	}
	debug.SetGCPercent(-1)
	limit := debug.SetMemoryLimit(startMemory)
	// The cleanup runs after the first collection, which finds that nothing refers to the value.
	runtime.AddCleanup(new([64]byte), func(limit int64) {
		debug.SetGCPercent(collectAt)
		debug.SetMemoryLimit(limit)
	}, limit)
}
