// Package table is how agents work with the tables of a folder: "Describe Tables" and
// "Query Tables". CSV, TSV, JSON, JSONL and Excel files, texts with delimiters and logs of the usual formats are imported once, at the first
// call, into a temporary SQLite database that only this program's user can read; [Tables.Close]
// removes it. Agents then ask by SQL, so that each number is computed over the whole file.
//
// The import reads a file twice: the first reading finds delimiter, encoding, header and what
// each column holds, the second converts and counts. A column holds numbers, dates or
// booleans if 80 % of its values are such; the others are unusable: they are NULL, counted,
// and some are shown. Ids, ZIP codes, SKUs and telephone numbers stay text. Total rows,
// remarks and titles are left out, and the notes of the table say so.
//
// Errors are media.Error values: [media.CodeInvalid] for bad SQL with the names that there
// are, [media.CodeNotFound] for an unknown table, [media.CodeDeadline] for what takes too
// long. A file that is no table is no error: Describe Tables lists it with the reason. The
// package imports action, action/file, action/database, media, wire and the SQLite driver.
package table
