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
)

// Tune doubles the number of Go processors, adding at most eight, and makes garbage collection
// start earlier. The runtime notices only after some time that a thread waits for the disk; spare
// processors let other work continue meanwhile. The variables GOMAXPROCS and GOGC take precedence.
// Call it once, at the start of main.
func Tune() {
	if os.Getenv("GOMAXPROCS") == "" {
		have := runtime.GOMAXPROCS(0)
		runtime.GOMAXPROCS(have + min(have, spareProcessors))
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(collectAt)
	}
}
