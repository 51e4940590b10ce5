//go:build race

package main

// raced reports whether this binary has the race detector.
const raced = true
