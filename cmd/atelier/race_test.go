//go:build race

package main

// raceEnabled reports whether this binary has the race detector.
const raceEnabled = true
