// Package knowledge is what agents do with a folder of documents that is too large to
// read through: "Search Knowledge Base" finds passages by their words and says which
// document each comes from.
//
// The folder is indexed once, with SQLite's FTS5, into a file outside of it. Later
// openings and searches look for what was added, changed or removed and index only
// that. The index is a cache: a damaged one, or one of another version, is made anew.
// It holds no media: base64 inside of a document is named instead.
//
// Errors are media.Error values: those of package file for the folder,
// [media.CodeInvalid] for empty searches, [media.CodeDiskFull] and CodeUnavailable for
// the index. The package imports action, action/file, media and the SQLite driver.
package knowledge
