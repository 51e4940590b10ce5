// Package pdf reads the text of PDF files: cross-reference streams, object streams,
// the usual filters, simple and composite fonts with their Unicode maps, form
// objects. It draws nothing, runs nothing and follows no link.
//
// It does not trust the file: objects are found by looking for them, so a damaged
// cross-reference table does no harm, and what a file may cost is bounded by
// [maxDecoded], [maxObjects], [maxPages] and [maxOperators].
//
// Errors are media.Error values: [media.CodeCorrupt] for what is no PDF or has no
// pages, [media.CodeUnsupported] for encrypted files, [media.CodeTooLarge] beyond
// the bounds. It imports media, golang.org/x/image (LZW) and golang.org/x/text
// (character sets).
package pdf

// The bounds of one file.
const (
	// maxDecoded is how many bytes all streams together may decode to; maxStream one.
	maxDecoded = 256 << 20
	maxStream  = 64 << 20
	// maxObjects and maxPages are how many of them a file may have.
	maxObjects = 1_000_000
	maxPages   = 20_000
	// maxOperators is how many drawing operators all pages together may have.
	maxOperators = 20_000_000
	// maxDepth is how deep values, page trees and forms may be nested.
	maxDepth = 48
	// maxEntries is how many codes the maps of one font may have.
	maxEntries = 200_000
)
