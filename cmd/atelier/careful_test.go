package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCorpusCarefully asks more questions about the folders of the corpus: thresholds, negations, ratios, and clauses
// that refer to the rows before them. Each answer is right, or a refusal if the data does not contain one.
func TestCorpusCarefully(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("testdata", "careful.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if n++; testing.Short() && n%shortCorpus != 0 {
			continue
		}
		cells := strings.Split(line, "\t")
		if len(cells) != 3 {
			t.Fatalf("no folder, question and facts: %s", line)
		}
		c := corpusCase{Question: cells[1], Language: "en", Expect: "refuse", dir: filepath.Join("testdata", "corpus", cells[0])}
		if strings.ContainsAny(c.Question, "äöüß") || strings.HasPrefix(c.Question, "W") && !strings.HasPrefix(c.Question, "Wh") {
			c.Language = "de"
		}
		if cells[2] != "-" {
			c.Expect = "answer"
			for fact := range strings.SplitSeq(cells[2], " & ") {
				c.Truth = append(c.Truth, []string{fact})
			}
		}
		t.Run(cells[0], func(t *testing.T) {
			t.Parallel()
			if v, said := c.ask(t); v != corpusRight {
				t.Errorf("%s\n%s, said: %s\ntrue: %s", c.Question, v, said, c.rightAnswer())
			}
		})
	}
}
