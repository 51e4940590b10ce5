// Package knowledge provides the action on a folder of documents that is too large to read: "Search Knowledge Base"
// finds passages by their words and names their documents.
//
// The folder is indexed once, with SQLite's FTS5, into a file outside of it. Later openings and searches index only
// added, changed and removed documents. The index is a cache: a damaged one, or one of another version, is rebuilt. It
// contains no media: base64 in a document is replaced with its name.
//
// Errors are media.Error values: those of package file for the folder, [media.CodeInvalid] for empty searches,
// [media.CodeDiskFull] and CodeUnavailable for the index. The package imports action, action/file, action/database,
// media, wire, internal/sqlitedb and the SQLite driver.
package knowledge
