package file

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"atelier/action"
	"atelier/media"
)

// found is the output of Search Files.
type found struct {
	Matches    []match     `json:"matches"`
	MatchCount int         `json:"matchCount"`
	Files      []fileCount `json:"files"`
	Searched   int         `json:"searched"`
	Skipped    []Skipped   `json:"skipped"`
	Truncated  bool        `json:"truncated"`
}

func (f *Files) find(tb testing.TB, params map[string]any) found {
	tb.Helper()
	p := map[string]any{"Path": ".", "MaxMatches": 30.0}
	for k, v := range params {
		p[k] = v
	}
	res, err := f.search(tb.Context(), &action.Call{Params: p})
	if err != nil {
		tb.Fatal(err)
	}
	b, err := json.Marshal(res.Outputs)
	if err != nil {
		tb.Fatal(err)
	}
	if n := len([]rune(string(b))); n > maxOutcome {
		tb.Errorf("outcome of %d characters, at most %d", n, maxOutcome)
	}
	var out found
	if err := json.Unmarshal(b, &out); err != nil {
		tb.Fatal(err)
	}
	return out
}

func TestSearchFiles(t *testing.T) {
	t.Parallel()
	f, _ := folder(t, map[string]string{
		"a.log": "start\nERROR disk full\nretry\nerror again\nend\n", "sub/b.txt": "nothing\r\nan Error here\r\n", "c.bin": "\x00\x01\x02ERROR", "d.csv": "id,msg\n1,ERROR\n",
		"e.log": "caf\xe9 ERROR\n",
	})
	got := f.find(t, map[string]any{"Pattern": "error", "Context": 1.0})
	want := found{
		Matches: []match{
			{Path: "a.log", Line: 2, Text: "ERROR disk full", Before: []string{"start"}, After: []string{"retry"}},
			{Path: "a.log", Line: 4, Text: "error again", Before: []string{"retry"}, After: []string{"end"}},
			{Path: "d.csv", Line: 2, Text: "1,ERROR", Before: []string{"id,msg"}},
			{Path: "e.log", Line: 1, Text: "café ERROR"},
			{Path: "sub/b.txt", Line: 2, Text: "an Error here", Before: []string{"nothing"}},
		},
		MatchCount: 5, Files: []fileCount{{"a.log", 2}, {"d.csv", 1}, {"e.log", 1}, {"sub/b.txt", 1}}, Searched: 4,
		Skipped: []Skipped{{"c.bin", "binary (application/octet-stream)"}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("found (-want +got):\n%s", d)
	}
	if got := f.find(t, map[string]any{"Pattern": "ERROR", "MatchCase": true, "Files": "*.log"}); got.MatchCount != 2 {
		t.Errorf("with capitals in logs: %+v", got)
	}
	if got := f.find(t, map[string]any{"Pattern": "error", "Path": "sub/b.txt"}); got.MatchCount != 1 || got.Searched != 1 {
		t.Errorf("one file: %+v", got)
	}
	if got := f.find(t, map[string]any{"Pattern": "absent"}); got.MatchCount != 0 || got.Truncated {
		t.Errorf("nothing: %+v", got)
	}
}

func TestSearchCountsWhatItDoesNotShow(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&log, "2024-03-01 line %d %s\n", i, map[bool]string{true: "ERROR " + strings.Repeat("x", 500)}[i%10 == 0])
	}
	log.WriteString(strings.Repeat("y", 200_000) + "\nERROR behind a long line\n")
	f, _ := folder(t, map[string]string{"a.log": log.String()})
	got := f.find(t, map[string]any{"Pattern": "ERROR", "MaxMatches": 100.0, "Context": 10.0})
	if got.MatchCount != 2001 || !got.Truncated || len(got.Matches) == 0 || got.Files[0].Count != 2001 {
		t.Errorf("%d matches, %d shown", got.MatchCount, len(got.Matches))
	}
	if got := f.find(t, map[string]any{"Pattern": "absent"}); got.MatchCount != 0 || len(got.Skipped) != 1 || got.Skipped[0].Reason != "of lines longer than 64 KiB, only the beginning was searched: 1" {
		t.Errorf("a long line: %+v", got)
	}
	if got := f.find(t, map[string]any{"Pattern": "behind"}); got.MatchCount != 1 || got.Matches[0].Line != 20_002 {
		t.Errorf("behind a long line: %+v", got)
	}
}

func TestSearchRefuses(t *testing.T) {
	t.Parallel()
	f, _ := folder(t, map[string]string{"a.log": "x"})
	for _, p := range []map[string]any{
		{"Pattern": "("}, {"Pattern": "(?=x)"}, {"Pattern": ""}, {"Pattern": "x", "Files": "["}, {"Pattern": "x", "Path": "../b"}, {"Pattern": "x", "Path": "b.log"},
	} {
		p["MaxMatches"] = 3.0
		if _, err := f.search(t.Context(), &action.Call{Params: p}); err == nil || media.CodeOf(err) == media.CodeInternal {
			t.Errorf("%v: %v", p, err)
		}
	}
}

func TestSearchDocuments(t *testing.T) {
	t.Parallel()
	f, _ := folder(t, map[string]string{"report.docx": wordDocument(t), "broken.docx": "PK\x03\x04nothing"})
	got := f.find(t, map[string]any{"Pattern": "second page"})
	if len(got.Matches) != 1 || got.Matches[0].Page != 2 || got.Matches[0].Line != 0 || len(got.Skipped) != 1 {
		t.Errorf("%+v", got)
	}
}

// TestSearchTellsOfAFileThatItCannotReadToTheEnd: a disk fails in the middle of a file.
func TestSearchTellsOfAFileThatItCannotReadToTheEnd(t *testing.T) {
	t.Parallel()
	s := &search{re: regexp.MustCompile("one"), limit: 10}
	broken := Source{Name: "a.log", Size: 9000, Open: func() (io.ReadCloser, error) {
		return io.NopCloser(io.MultiReader(strings.NewReader(strings.Repeat("one\n", 2000)), iotest.ErrReader(errors.New("input/output error")))), nil
	}}
	if err := s.file(t.Context(), broken); err != nil || len(s.skipped) != 1 || !strings.Contains(s.skipped[0].Reason, "input/output error") {
		t.Errorf("%v, skipped %v, %d matches", err, s.skipped, s.total)
	}
}
