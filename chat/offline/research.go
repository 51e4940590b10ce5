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
	h := newHarvest(c.task)
	for i, a := range c.did("Read File") {
		name := a.Name
		if i < len(chosen) {
			name = chosen[i].Path
		}
		var r reading
		if !a.Success || json.Unmarshal(a.Outputs, &r) != nil {
			h.fail(name, a.Message)
			continue
		}
		if r.Path == "" {
			r.Path = name
		}
		switch {
		case r.Table != nil:
			h.table(r.Path, r.Table)
			h.source(r.Path, "", r.Kind, r.Table.RowCount)
		case r.Text != "":
			h.study(r.Path, r.Title, r.Text)
			h.passages = append(h.passages, map[string]any{"path": r.Path, "title": r.Title, "sentences": keySentences(r.Text, c.task, 6), "truncated": r.Truncated})
			h.source(r.Path, "", r.Kind, 0)
		default:
			h.fail(r.Path, a.Message)
		}
	}
	for _, f := range left {
		reason := "not read: " + f.Kind
		if f.Size == 0 {
			reason = "empty"
		} else if f.Kind == "markdown" || f.Kind == "text" || f.Kind == "table" || f.Kind == "csv" {
			reason = fmt.Sprintf("more than %d files", mostFiles)
		}
		h.fail(f.Path, reason)
	}
	return h.step(fmt.Sprintf("Read %s: %s and %s.", count(len(h.sources), "file"), count(len(h.tables), "table"), count(len(h.passages), "text")))
}
