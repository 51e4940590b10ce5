// Package media defines the common vocabulary for pictures, sounds, films and documents whose bytes
// are in the blob store.
//
// It defines digests, modalities, refs, outputs, the media set of a run, placeholders with their
// streaming resolver, the scope in which refs are valid, and the error codes that every other
// package uses. Nothing in this package ever holds media bytes.
//
// Errors are [Error] values with a [Code]; anything else is internal. The package imports the
// standard library only, and every other package may import it.
package media
