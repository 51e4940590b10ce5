package house_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// maxWords is the maximum number of words in all handwritten documents.
const maxWords = 15_000

// generatedDocuments are written by make generate, entirely or for the most part.
var generatedDocuments = []string{"reference.md", "actions.md", "agents.md", "conformance.md"}

// codeBlock matches a fenced block: code is not counted, and contains no links or headings.
var codeBlock = regexp.MustCompile("(?ms)^```.*?^```$")

// documents returns the text of each document without its code blocks, by its path.
func documents(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, file := range append(files, filepath.Join(root, "README.md"), filepath.Join(root, "CHANGELOG.md"), filepath.Join(root, "CONTRIBUTING.md")) {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		out[file] = codeBlock.ReplaceAllString(string(b), "")
	}
	return out
}

// TestDocumentsAreShort counts the words with a letter or a digit, in tables too.
func TestDocumentsAreShort(t *testing.T) {
	t.Parallel()
	words := 0
	for file, text := range documents(t) {
		if slices.Contains(generatedDocuments, filepath.Base(file)) {
			continue
		}
		for word := range strings.FieldsSeq(text) {
			if strings.ContainsFunc(word, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
				words++
			}
		}
	}
	if words > maxWords {
		t.Errorf("the documents have %d words by hand, want at most %d: say what is said twice once, and link it", words, maxWords)
	}
}

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
)

// TestDocumentsLinkToWhatIsThere: each relative link of a document leads to an existing file and heading.
func TestDocumentsLinkToWhatIsThere(t *testing.T) {
	t.Parallel()
	all := documents(t)
	for file, text := range all {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			path, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(path, "://") {
				continue
			}
			target := file
			if path != "" {
				target = filepath.Join(filepath.Dir(file), path)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s, which is not there", file, m[1])
			} else if anchor != "" && !slices.Contains(anchors(all[target]), anchor) {
				t.Errorf("%s links to %s, which is no heading of %s", file, m[1], target)
			}
		}
	}
}

// anchors returns the anchors by which GitHub links to the headings of a document.
func anchors(text string) []string {
	var out []string
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		out = append(out, strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, m[1]))
	}
	return out
}
