//go:build race

package main

// raced tells that this binary has the race detector in it.
const raced = true
