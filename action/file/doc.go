// Package file provides actions on a folder of files: "List Files", "Read File" and "Search Files". It reads one folder
// and nothing outside of it. It refuses links and .. that lead outside, and hidden files (.env, .git), which often
// contain secrets.
//
// Text, Markdown, HTML, PDF, Word and JSON are returned as text, by page or in parts, and searched line by line in
// constant memory. For a table, Read File shows only the first lines; package table queries its numbers. Other files
// are described, never read as text.
//
// Other packages reuse the code: [Files.Walk] and [Extract] read the text of a folder or a page.
//
// Errors are media.Error values: [media.CodeNotFound] lists similar paths, [media.CodeForbidden] means a hidden path or
// one outside of the folder, and most others are [media.CodeInvalid]. The package imports action, its internal
// packages, media, probe, wire and golang.org/x/net/html.
package file
