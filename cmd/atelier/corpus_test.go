package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
)

// corpusVariable is the environment variable for the absolute path of another folder of cases for TestCorpus.
const corpusVariable = "ATELIER_CORPUS"

// minRightPercent is the percentage of cases that the offline models must answer right.
const minRightPercent = 60

// corpusCase is one question about a folder of files. A case is a folder: case.json and files/.
type corpusCase struct {
	Question string `json:"question"`
	Language string `json:"language"` // en or de
	Expect   string `json:"expect"`   // answer or refuse
	// Truth lists facts; a fact lists its accepted spellings. Numbers are plain decimals.
	Truth [][]string `json:"truth"`
	// How describes how the truth was computed, without Atelier.
	How string `json:"how"`
	// Wrong lists figures that a careless reader finds. They are for people and are not judged.
	Wrong []string `json:"wrong"`

	name, dir string
}

// check reports mistakes in the case itself.
func (c corpusCase) check() error {
	switch {
	case strings.TrimSpace(c.Question) == "" || strings.TrimSpace(c.How) == "":
		return fmt.Errorf("question and how must not be empty")
	case c.Language != "en" && c.Language != "de":
		return fmt.Errorf("language %q is not en or de", c.Language)
	case c.Expect != "answer" && c.Expect != "refuse":
		return fmt.Errorf("expect %q is not answer or refuse", c.Expect)
	case (c.Expect == "answer") != (len(c.Truth) > 0):
		return fmt.Errorf("expect %q with %d facts", c.Expect, len(c.Truth))
	}
	for _, fact := range c.Truth {
		if len(fact) == 0 || slices.Contains(fact, "") {
			return fmt.Errorf("a fact without a spelling: %q", fact)
		}
	}
	entries, err := os.ReadDir(filepath.Join(c.dir, "files"))
	if err == nil && len(entries) == 0 {
		err = fmt.Errorf("the folder files is empty")
	}
	return err
}

// readCorpus returns every case below a folder.
func readCorpus(t *testing.T, root string) []corpusCase {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root, "*", "case.json"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no case.json below %s: %v", root, err)
	}
	cases := make([]corpusCase, 0, len(paths))
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Dir(path)
		c := corpusCase{name: filepath.Base(dir), dir: dir}
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		if err := d.Decode(&c); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if err := c.check(); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		cases = append(cases, c)
	}
	return cases
}

// scores collects verdicts of concurrent cases.
type scores struct {
	mu  sync.Mutex // guards the map
	per map[string]judged
}

// judged is a verdict and the beginning of the message that it judges.
type judged struct {
	verdict corpusVerdict
	said    string
}

func (s *scores) add(name string, j judged) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.per[name] = j
}

// count returns the number of cases with a verdict.
func (s *scores) count(v corpusVerdict) int {
	n := 0
	for _, j := range s.per {
		if j.verdict == v {
			n++
		}
	}
	return n
}

// String returns a table of all verdicts.
func (s *scores) String() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, name := range slices.Sorted(maps.Keys(s.per)) {
		fmt.Fprintf(w, "%s\t%s\t%s\n", name, s.per[name].verdict, shortened(s.per[name].said, 110))
	}
	_ = w.Flush()
	fmt.Fprintf(&b, "%d cases: %d right, %d refused, %d wrong", len(s.per), s.count(corpusRight), s.count(corpusRefused), s.count(corpusWrong))
	return b.String()
}

// shortened returns a text on one line of at most n runes.
func shortened(s string, n int) string {
	r := []rune(strings.Join(strings.Fields(s), " "))
	if len(r) <= n {
		return string(r)
	}
	return string(r[:n-1]) + "…"
}

// ask puts the question of a case to the offline models, as a person at a terminal does. It judges the message and, if
// an answer is expected, the report.
func (c corpusCase) ask(t *testing.T) (corpusVerdict, string) {
	t.Helper()
	p := newTestEnv(t)
	out := t.TempDir()
	o := p.atelier("run", "research-agent", c.Question, "--files", filepath.Join(c.dir, "files"), "--out", out, "--json")
	if o.code != exitOK {
		return corpusWrong, fmt.Sprintf("exit %d: %s", o.code, o.stderr)
	}
	message := decode[answer](t, o).Message
	verdict := c.judge(message)
	if verdict != corpusRight || c.Expect != "answer" {
		return verdict, firstTwo(message)
	}
	page, err := os.ReadFile(filepath.Join(out, "report.html"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := reportText(string(page))
	if err != nil {
		t.Fatal(err)
	}
	if c.judge(text) != corpusRight {
		return corpusWrong, "the report: " + firstTwo(text)
	}
	return verdict, firstTwo(message)
}

// shortCorpus is how many cases each case of a -short run represents; make matrices asks all.
const shortCorpus = 24

// TestCorpus asks the offline models one question about each folder of a corpus. A wrong answer fails, and so do too
// many refusals. -v prints all verdicts.
func TestCorpus(t *testing.T) {
	t.Parallel()
	root := os.Getenv(corpusVariable)
	if root == "" {
		root = filepath.Join("testdata", "corpus")
	}
	cases := readCorpus(t, root)
	all := scores{per: map[string]judged{}}
	t.Cleanup(func() {
		t.Logf("\n%s", &all)
		if right := all.count(corpusRight); right*100 < len(all.per)*minRightPercent {
			t.Errorf("%d of %d cases are right, fewer than %d %%", right, len(all.per), minRightPercent)
		}
	})
	for i, c := range cases {
		if testing.Short() && os.Getenv(corpusVariable) == "" && i%shortCorpus != 0 {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			v, said := c.ask(t)
			all.add(c.name, judged{v, said})
			if v == corpusWrong {
				t.Errorf("%s\nsaid: %s\ntrue: %s", c.Question, said, c.rightAnswer())
			}
		})
	}
}
