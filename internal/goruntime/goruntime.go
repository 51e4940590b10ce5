// Package goruntime sets the Go runtime for a process that streams media: much goes
// through it, little stays. It imports the standard library alone.
package goruntime

import (
	"os"
	"runtime"
	"runtime/debug"
)

const (
	// spareProcessors bounds how many run Go code besides the machine's own.
	spareProcessors = 8
	// collectAt is the growth of the live heap, in percent, after which it is collected.
	collectAt = 50
)

// Tune gives the process as many Go processors again as it has, eight at most, and
// collects garbage earlier. The runtime notices only after a while that a thread waits for
// the disk; with spare processors others work meanwhile. The variables GOMAXPROCS and
// GOGC win. Call it once, at the start of main.
func Tune() {
	if os.Getenv("GOMAXPROCS") == "" {
		have := runtime.GOMAXPROCS(0)
		runtime.GOMAXPROCS(have + min(have, spareProcessors))
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(collectAt)
	}
}
