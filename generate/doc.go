// Package generate holds the words of generations, which callers, the gateway and drivers share: a
// [Request] with its settings, the [Result] with its slots, what became of each setting, the
// events on the way, and the budgets that bound what is spent.
//
// Package gateway carries requests out, package catalog knows the models, package driver is the
// contract of the providers, and package operation has the states of an operation. The drivers
// themselves are in packages of their own and never import each other.
//
// Errors are media.Error values. It may import media, and generate/money for amounts; the packages
// below may import media, journal, blob, probe, wire, imaging, internal/safehttp and
// internal/patience. No HTTP routes, no SQL, and no durable engine in any of them.
package generate
