package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"atelier/media"
)

// failure returns the text of an error for people: [media.ErrorText], except that paths of the command
// line appear as typed, even if they look like encoded media.
func (w *world) failure(text string) string { return errorTextExceptPaths(text, w.paths()) }

// errorTextExceptPaths applies [media.ErrorText] to the text before, between and after the paths.
func errorTextExceptPaths(text string, paths []string) string {
	for _, p := range paths {
		if before, after, found := strings.Cut(text, p); found {
			return errorTextExceptPaths(before, paths) + p + errorTextExceptPaths(after, paths)
		}
	}
	return media.ErrorText(text)
}

// paths returns the paths of the command line that [media.ErrorText] would take for media, and their
// parent folders, in which files are written, longest first.
func (w *world) paths() (paths []string) {
	for _, arg := range w.args {
		if flag, value, given := strings.Cut(arg, "="); given && strings.HasPrefix(flag, "-") {
			arg = value
		}
		arg = strings.TrimPrefix(arg, "@")
		for _, p := range []string{arg, filepath.Dir(arg)} {
			if media.ErrorText(p) != p && isPath(p) {
				paths = append(paths, p)
			}
		}
	}
	slices.SortFunc(paths, func(a, b string) int { return len(b) - len(a) })
	return paths
}

// isPath reports whether a word leads into an existing folder. No single missing part of it may look like
// media to [media.ErrorText].
func isPath(word string) bool {
	for at := word; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(at); err == nil {
			return at != "." && at != string(filepath.Separator)
		}
		if name := filepath.Base(at); media.ErrorText(name) != name || at == filepath.Dir(at) {
			return false
		}
	}
}
