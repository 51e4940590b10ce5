// Package generatetest proves that a driver keeps the contract of
// generate.Driver: [Run] plays a table of scenarios against a driver that talks to
// a provider simulator over loopback, and [Driver] is a scripted driver for tests
// of what stands above.
//
// The simulators are the sub-packages; they speak the real protocols and obey
// [Simulator]. It is a test package: it may import testing and every room below
// generate, and nothing that ships imports it.
package generatetest

import (
	"net/http"

	"atelier/internal/sim"
)

// Simulator is a provider on loopback. Serve it with httptest and give the
// server's URL to the driver as its base. It is safe for concurrent use.
type Simulator interface {
	http.Handler
	// Key is the one credential that it accepts.
	Key() string
	// Inject queues faults. Every generation call takes the oldest one; when none is
	// left, calls succeed. Calls refused for their key take none.
	Inject(faults ...sim.Injection)
	// Variants tells how many shapes the provider has for a fault; 0 means that the
	// fault cannot happen with it, for the reason that Absent gives.
	Variants(f sim.Fault) int
	// Absent says why the provider cannot have a fault of no variants; empty for all others.
	Absent(f sim.Fault) string
	// Captured lists the generation calls so far in the order of arrival, refused ones included.
	Captured() []sim.Captured
	// Violation tells where a captured call departs from what the provider documents:
	// endpoint, headers, and the schema of the body, in which unknown fields are errors.
	Violation(c sim.Captured) error
}
