package offline

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"sort"
	"strings"
)

// mostFiles is how many files one research reads; the rest is named as not read.
const mostFiles = 16

// file is one entry of the List Files action.
type file struct {
	Path string `json:"path"`
	Size int64  `json:"sizeBytes"`
	Kind string `json:"kind"`
}

// reading is what the Read File action says of one file.
type reading struct {
	Kind  string `json:"kind"`
	Path  string `json:"path"`
	Title string `json:"title"`
	Text  string `json:"text"`
	Table *table `json:"table"`
	// Truncated texts are read to their first part only.
	Truncated bool `json:"truncated"`
}

// research reads the files of a folder: list, read the most promising, report.
func research(c *conversation) step {
	lists := c.did("List Files")
	if len(lists) == 0 {
		return step{Reasoning: "See which files there are.", Actions: []actionCall{{Name: "List Files", Params: map[string]any{}}}}
	}
	files, ok := listed(lists[len(lists)-1])
	if !ok {
		return step{Done: true, Message: "The files could not be listed: " + lists[len(lists)-1].Message, Reasoning: "Nothing can be read."}
	}
	chosen, left := choose(files, c.task)
	if len(c.did("Read File")) == 0 && len(chosen) > 0 {
		s := step{Reasoning: fmt.Sprintf("Read the %d files that promise most.", len(chosen))}
		for _, f := range chosen {
			s.Actions = append(s.Actions, actionCall{Name: "Read File", Params: map[string]any{"Path": f.Path}})
		}
		return s
	}
	return findings(c, chosen, left)
}

func listed(a actionResult) ([]file, bool) {
	var out struct {
		Files []file `json:"files"`
	}
	return out.Files, a.Success && json.Unmarshal(a.Outputs, &out) == nil
}

// choose ranks files: what can be read, what the task names, tables before prose,
// prose before the rest, small before huge.
func choose(files []file, task string) (chosen, left []file) {
	want := words(task)
	score := func(f file) int {
		s := 0
		switch f.Kind {
		case "table", "csv", "tsv", "json":
			s = 30
		case "markdown", "text", "html":
			s = 25
		case "image", "audio", "video", "binary":
			return -1
		}
		for _, w := range words(f.Path) {
			if slices.Contains(want, w) {
				s += 10
			}
		}
		if strings.HasPrefix(strings.ToLower(path.Base(f.Path)), "readme") {
			s -= 5
		}
		return s
	}
	ranked := slices.Clone(files)
	sort.SliceStable(ranked, func(i, j int) bool { return score(ranked[i]) > score(ranked[j]) })
	for _, f := range ranked {
		if f.Size == 0 || score(f) < 0 || len(chosen) == mostFiles {
			left = append(left, f)
			continue
		}
		chosen = append(chosen, f)
	}
	return chosen, left
}

// findings is the researcher's last step: everything read, in a shape that a
// writer can use.
func findings(c *conversation, chosen, left []file) step {
	var tables, passages, sources []any
	var failed []any
	for i, a := range c.did("Read File") {
		var r reading
		if !a.Success || json.Unmarshal(a.Outputs, &r) != nil {
			name := a.Name
			if i < len(chosen) {
				name = chosen[i].Path
			}
			failed = append(failed, map[string]any{"path": name, "reason": a.Message})
			continue
		}
		if r.Path == "" && i < len(chosen) {
			r.Path = chosen[i].Path
		}
		src := map[string]any{"path": r.Path, "kind": r.Kind}
		switch {
		case r.Table != nil:
			src["rows"] = r.Table.RowCount
			tables = append(tables, map[string]any{"path": r.Path, "table": r.Table})
		case r.Text != "":
			best := keySentences(r.Text, c.task, 6)
			passages = append(passages, map[string]any{"path": r.Path, "title": r.Title, "sentences": best, "truncated": r.Truncated})
		default:
			failed = append(failed, map[string]any{"path": r.Path, "reason": a.Message})
			continue
		}
		sources = append(sources, src)
	}
	for _, f := range left {
		reason := "not read: " + f.Kind
		if f.Size == 0 {
			reason = "empty"
		} else if f.Kind == "markdown" || f.Kind == "text" || f.Kind == "table" || f.Kind == "csv" {
			reason = fmt.Sprintf("more than %d files", mostFiles)
		}
		failed = append(failed, map[string]any{"path": f.Path, "reason": reason})
	}
	s := step{Reasoning: "Everything that can be read is read.", Done: true, Payload: map[string]any{
		"tables": tables, "passages": passages, "sources": sources, "not_read": failed,
	}}
	s.Message = fmt.Sprintf("Read %s: %s and %s.", count(len(sources), "file"), count(len(tables), "table"), count(len(passages), "text"))
	return s
}
