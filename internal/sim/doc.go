// Package sim is what simulators of providers share: calls that are recorded and checked against what the
// provider documents, faults by script, pictures and sounds that cost next to nothing to make, and results
// by link. The protocol of a provider stays in its simulator.
//
// It has no errors of its own. It imports the standard library, a schema validator and package media. It is a
// test double: only tests, simulators and benchmarks import it.
package sim
