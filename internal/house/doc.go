// Package house contains the tests that check the repository's rules: which package may import
// which, the size of files, and that the documents match the code. It has no code of its own.
package house
