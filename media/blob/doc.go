// Package blob is the content-addressed store of all media bytes. No other package stores them.
//
// A [Store] implements what is the same for every backend: hashing, verification, limits, listing and garbage
// collection. A [Driver] implements what differs: fileblob keeps blobs in a folder, memblob in memory. Both pass the
// conformance suite of blobtest.
//
// Errors are [media.Error] values: not_found, corrupt (the bytes do not hash to their digest), too_large, disk_full,
// invalid, unsupported (space cannot be reserved), and internal for other failures of a driver. Context errors and
// errors of a source are returned unchanged. The package may import media and the standard library only.
package blob
