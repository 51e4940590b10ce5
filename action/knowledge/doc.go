// Package knowledge has the action on a folder of documents that is too large to read: "Search
// Knowledge Base" finds passages by their words and names their documents.
//
// The folder is indexed once, with SQLite's FTS5, into a file outside of it. Later openings and
// searches index only added, changed and removed documents. The index is a cache: a damaged one, or
// one of another version, is rebuilt. It contains no media: base64 inside of a document is named
// instead.
//
// Errors are media.Error values: those of package file for the folder, [media.CodeInvalid] for
// empty searches, [media.CodeDiskFull] and CodeUnavailable for the index. The package imports
// action, action/file, media and the SQLite driver.
package knowledge
