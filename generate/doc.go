// Package generate is the generation gateway: one request shape for every
// provider that makes media, honest about every setting, with partial success
// per slot, and with every billable call journalled before it is made.
//
// A [Driver] speaks to one provider and does as little as possible; everything
// that providers have in common is the [Gateway]'s, once. What a model can do is
// data: the [Catalogue].
//
// A call is repeated only where its driver says that a repeat cannot be paid twice;
// what arrived is recorded whatever happens next.
//
// Errors are media.Error values. Images travel as media.Output; bytes go from the
// provider's HTTP body straight into the blob store (package wire).
//
// It may import media, journal, blob, probe, wire, imaging, internal/safehttp and
// internal/patience. No HTTP routes, no SQL, and no durable engine here; drivers never
// import each other.
package generate
