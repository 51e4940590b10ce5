package offline

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
)

// What one research reads at most of each kind of source.
const (
	mostTables = 6
	mostPages  = 5
	mostHits   = 10
	// mostStructures is how many structures one researcher hands up.
	mostStructures = 20
)

// harvest is what a researcher brings back: for drawings also structures and counted
// words, where the task wants them.
type harvest struct {
	task                              string
	order                             order
	tables, passages, sources, failed []any
	structures                        []structure
	words                             map[string]float64
}

func newHarvest(task string) *harvest { return &harvest{task: task, order: readOrder(task)} }

// table adds a profile. Rows that say what is linked to what are relations instead:
// their numbers compare nothing.
func (h *harvest) table(path string, t *table) {
	if s, ok := t.relations(path); ok && len(h.structures) < mostStructures {
		h.structures = append(h.structures, s)
		return
	}
	bare := *t
	bare.SampleRows = nil // rows are no findings
	h.tables = append(h.tables, map[string]any{"path": path, "table": &bare})
}

// study looks in a text for what the task wants drawn.
func (h *harvest) study(path, title, text string) {
	if len(h.order.drawings) == 0 {
		return
	}
	if found := structures(path, title, text); len(h.structures) < mostStructures {
		h.structures = append(h.structures, found[:min(len(found), 5)]...)
	}
	if h.order.draws(cloudAction) {
		h.words = tally(h.words, text)
	}
}

func (h *harvest) source(path, title, kind string, rows int64) {
	s := map[string]any{"path": path, "kind": kind}
	if title != "" {
		s["title"] = title
	}
	if rows > 0 {
		s["rows"] = rows
	}
	h.sources = append(h.sources, s)
}

func (h *harvest) fail(path, reason string) {
	h.failed = append(h.failed, map[string]any{"path": path, "reason": reason})
}

// passage adds the best sentences of a text, and tells whether there were any.
func (h *harvest) passage(path, title, text string) bool {
	h.study(path, title, text)
	best := keySentences(text, h.task, 6)
	if len(best) == 0 {
		return false
	}
	h.passages = append(h.passages, map[string]any{"path": path, "title": title, "sentences": best})
	return true
}

// step is the researcher's last one.
func (h *harvest) step(message string) step {
	found := map[string]any{"tables": h.tables, "passages": h.passages, "sources": h.sources, "not_read": h.failed}
	if len(h.structures) > 0 {
		found["structures"] = h.structures
	}
	if len(h.words) > 0 {
		few := map[string]float64{}
		for _, w := range heaviest(h.words, mostWords) {
			text := w["text"].(string)
			few[text] = h.words[text]
		}
		found["words"] = few
	}
	return step{Reasoning: "Everything that can be read is read.", Done: true, Message: message, Payload: quoted(found)}
}

// quoted writes placeholders that stand in a source as the text they are there: they are
// no media of this run.
func quoted(found map[string]any) map[string]any {
	b, err := json.Marshal(found)
	if err != nil || !bytes.Contains(b, []byte("${media:")) {
		return found
	}
	var out map[string]any
	if json.Unmarshal(bytes.ReplaceAll(b, []byte("${media:"), []byte("$${media:")), &out) != nil {
		return found
	}
	return out
}

// querying researches a database: describe, query what fits the task, report.
func querying(c *conversation) step {
	described := c.did("Describe Database")
	if len(described) == 0 {
		return step{Reasoning: "See which tables there are.", Actions: []actionCall{{Name: "Describe Database", Params: map[string]any{}}}}
	}
	var s schema
	last := described[len(described)-1]
	if !last.Success || json.Unmarshal(last.Outputs, &s) != nil {
		return step{Done: true, Message: "The database could not be described: " + last.Message, Reasoning: "Nothing can be queried."}
	}
	chosen := s.choose(c.task)
	asked := c.did("Query Database")
	if len(asked) == 0 && len(chosen) > 0 {
		next := step{Reasoning: fmt.Sprintf("Query the %s that fit the task.", count(len(chosen), "table"))}
		for _, t := range chosen {
			next.Actions = append(next.Actions, actionCall{Name: "Query Database", Params: map[string]any{"SQL": s.query(t)}})
		}
		return next
	}
	h := newHarvest(c.task)
	for i, a := range asked {
		name := "query"
		if i < len(chosen) {
			name = chosen[i].Name
		}
		var out struct {
			RowCount int64   `json:"rowCount"`
			Table    *table  `json:"table"`
			Rows     [][]any `json:"rows"`
		}
		switch {
		case !a.Success || json.Unmarshal(a.Outputs, &out) != nil:
			h.fail(name, a.Message)
		case out.Table == nil:
			h.fail(name, "too few rows to compare")
		default:
			out.Table.SampleRows = texts(out.Rows)
			h.table(name, out.Table)
			h.source(name, "", "database table", chosen[min(i, len(chosen)-1)].rows(out.RowCount))
		}
	}
	return h.step(fmt.Sprintf("Queried %s of the database.", count(len(h.tables), "table")))
}

// texts writes the cells of rows as text.
func texts(rows [][]any) [][]string {
	var out [][]string
	for _, r := range rows[:min(len(rows), mostLinks)] {
		var cells []string
		for _, v := range r {
			if v == nil {
				v = ""
			}
			cells = append(cells, fmt.Sprint(v))
		}
		out = append(out, cells)
	}
	return out
}

// searching researches a knowledge base: a few searches at once, then report.
func searching(c *conversation) step {
	asked := c.did("Search Knowledge Base")
	if len(asked) == 0 {
		s := step{Reasoning: "Look for the words of the task, together and alone."}
		for _, q := range queries(c.task) {
			s.Actions = append(s.Actions, actionCall{Name: "Search Knowledge Base", Params: map[string]any{"Query": q}})
		}
		if len(s.Actions) > 0 {
			return s
		}
		return step{Done: true, Message: "The task has no words to look for.", Reasoning: "Nothing can be searched."}
	}
	h := newHarvest(c.task)
	texts, titles, order, skipped := map[string]string{}, map[string]string{}, []string{}, map[string]bool{}
	for _, a := range asked {
		var out struct {
			Results []struct {
				Path, Title, Heading, Text string
			} `json:"results"`
			Skipped []struct{ Path, Reason string } `json:"skipped"`
		}
		if !a.Success || json.Unmarshal(a.Outputs, &out) != nil {
			h.fail("search", a.Message)
			continue
		}
		for _, r := range out.Results {
			if _, known := texts[r.Path]; !known {
				order, titles[r.Path] = append(order, r.Path), r.Title
			}
			if !strings.Contains(texts[r.Path], r.Text) {
				texts[r.Path] += "\n\n# " + cmp.Or(r.Heading, r.Title) + "\n\n" + r.Text
			}
		}
		for _, s := range out.Skipped {
			if !skipped[s.Path] {
				skipped[s.Path] = true
				h.fail(s.Path, s.Reason)
			}
		}
	}
	for _, path := range order[:min(mostHits, len(order))] {
		if h.passage(path, titles[path], texts[path]) {
			h.source(path, titles[path], "document", 0)
		}
	}
	return h.step(fmt.Sprintf("Found passages in %s of the knowledge base.", count(len(h.sources), "document")))
}
