// Package media is the leaf vocabulary of Atelier: what a picture, a sound, a
// film or a document is called while its bytes lie in the blob store.
//
// It holds digests, modalities, refs, outputs, the media set of a run, the
// placeholder grammar with its streaming resolver, the scope in which refs mean
// something, and the error vocabulary that every other room speaks. Nothing in
// this package ever holds media bytes.
//
// Errors are [Error] values with a [Code]; anything else is internal. The
// package imports the standard library only, and every other room may import it.
package media
