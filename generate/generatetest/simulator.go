// Package generatetest tests that a driver keeps the contract of
// generate.Driver: [Run] tests a driver against a table of scenarios with
// a provider simulator over loopback, and [Driver] is a scripted driver for tests
// of the code above drivers.
//
// The simulators are the sub-packages; they implement the real protocols and
// [Simulator]. It is a test package: it may import testing and every package below
// generate, and no shipped code imports it.
package generatetest

import (
	"net/http"

	"atelier/internal/sim"
)

// Simulator is a provider on loopback. Serve it with httptest and pass the
// server's URL to the driver as its base. It is safe for concurrent use.
type Simulator interface {
	http.Handler
	// Key returns the only credential that it accepts.
	Key() string
	// Inject queues faults. Every generation call takes the oldest one; without faults,
	// calls succeed. Calls refused for their key take none.
	Inject(faults ...sim.Injection)
	// Variants returns the number of variants of a fault; 0 means that the provider
	// cannot have the fault, for the reason that Absent returns.
	Variants(f sim.Fault) int
	// Absent returns why the provider cannot have a fault without variants; empty for all others.
	Absent(f sim.Fault) string
	// Captured returns the generation calls so far in order of arrival, including refused ones.
	Captured() []sim.Captured
	// Violation returns how a captured call deviates from the provider's documentation:
	// endpoint, headers, and the schema of the body, in which unknown fields are errors.
	Violation(c sim.Captured) error
}
