// Package house holds the tests that police the repository: which room may import
// which, how large files grow, and that the documents name what the code has. It
// has no code of its own.
package house
