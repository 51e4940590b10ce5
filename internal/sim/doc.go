// Package sim is the shared base of provider simulators: calls that are recorded and checked
// against the provider's documentation, scripted faults, pictures and sounds that are cheap to
// make, and results by link. Each simulator implements its provider's protocol.
//
// It has no errors of its own. It imports the standard library, a schema validator and package
// media. It is a test double: only tests, simulators and benchmarks import it.
package sim
