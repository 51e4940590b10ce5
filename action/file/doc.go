// Package file is what agents do with a folder of files: "List Files" and "Read
// File". It sees one folder and nothing above it; links and .. that lead out are
// refused, and so are hidden files (.env, .git), which hold what is not meant to be read.
//
// Text, Markdown, HTML and PDF come as text in pieces. CSV, TSV and JSON records come as
// a profile (columns, totals, series, extremes) made while the file streams past,
// so that a 200 MB table costs one table's summary in the prompt and a fixed amount
// of memory. Other files are described, never read as text.
//
// Other families read through the same code: [Files.Walk] and [Extract] give a
// folder's or a page's text, [Profile] makes a table of records from elsewhere.
//
// Errors are media.Error values: [media.CodeNotFound] lists near paths,
// [media.CodeForbidden] is a way out of the folder, [media.CodeInvalid] the rest.
// The package imports action, media, probe and golang.org/x/net/html.
package file
