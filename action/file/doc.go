// Package file has the actions on a folder of files: "List Files", "Read File" and "Search Files".
// It reads one folder and nothing outside of it: links and .. that lead out are refused, and so are
// hidden files (.env, .git), which often have secrets.
//
// Text, Markdown, HTML, PDF, Word and JSON are returned as text, by page or in parts, and searched
// line by line in constant memory. For a table, Read File shows only the first lines: package table
// has its numbers. Other files are described, never read as text.
//
// Other families use the same code: [Files.Walk] and [Extract] read the text of a folder or a page.
//
// Errors are media.Error values: [media.CodeNotFound] lists similar paths, [media.CodeForbidden] is
// a path outside of the folder, [media.CodeInvalid] the rest. The package imports action, media,
// probe and golang.org/x/net/html.
package file
