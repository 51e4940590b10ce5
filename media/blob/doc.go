// Package blob is the content-addressed store in which all media bytes lie. It is
// the only place where they do.
//
// A [Store] is concrete and does the work once for every backend: hashing,
// verification, limits, listing and garbage collection. A [Driver] is the small
// part that differs: fileblob keeps blobs in a folder, memblob in memory; both
// pass the suite of blobtest.
//
// Errors are [media.Error] values: not_found, corrupt (the bytes do not hash to
// their digest), too_large, disk_full, invalid; context errors pass through. The
// package may import media and the standard library only.
package blob
