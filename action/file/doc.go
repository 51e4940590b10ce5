// Package file is what agents do with a folder of files: "List Files", "Read File" and
// "Search Files". It sees one folder and nothing above it; links and .. that lead out are
// refused, and so are hidden files (.env, .git), which hold what is not meant to be read.
//
// Text, Markdown, HTML, PDF, Word and JSON come as text, by page or in pieces, and are
// searched line by line in a fixed amount of memory. Of a table Read File shows the first
// lines only: package table answers for its numbers. Other files are described, never read
// as text.
//
// Other families read through the same code: [Files.Walk] and [Extract] give a folder's or
// a page's text.
//
// Errors are media.Error values: [media.CodeNotFound] lists near paths,
// [media.CodeForbidden] is a way out of the folder, [media.CodeInvalid] the rest.
// The package imports action, media, probe and golang.org/x/net/html.
package file
