package offline

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"atelier/chat/offline/question"
	"atelier/chat/offline/question/passage"
	"atelier/chat/offline/question/plan"
	"atelier/chat/offline/question/schema"
)

const (
	// maxFiles is the maximum number of documents that one research reads, maxParts that of parts of a long one.
	maxFiles = 24
	// databaseTable is the kind of a source that is a database table.
	databaseTable = "database table"
	// moreDocuments is the reason why the remaining documents are not read.
	moreDocuments = "more than 24 documents"
	maxParts      = 6
	// maxQueries limits the statements of one research: what is not answered by then stays unanswered.
	maxQueries = 30
)

// file is one entry of the List Files action.
type file struct {
	Path string `json:"path"`
	Size int64  `json:"sizeBytes"`
	Kind string `json:"kind"`
}

// reading is what the Read File action returns for one file.
type reading struct {
	Path      string `json:"path"`
	Title     string `json:"title"`
	Text      string `json:"text"`
	Offset    int    `json:"offset"`
	Truncated bool   `json:"truncated"`
}

// described is what Describe Tables and Describe Database return.
type described struct {
	Engine  string         `json:"engine"`
	Tables  []schema.Table `json:"tables"`
	NotRead []unread       `json:"notRead"`
}

// tableResearch is a research of tables with two actions.
type tableResearch struct {
	c               *conversation
	describe, query string
	described       described
	readings        []question.Reading
	failed          string
}

// nextStep describes the tables and requests the statements of the question; it returns a step until all are executed.
func (a *tableResearch) nextStep() (step, bool) {
	done := a.c.actionResults(a.describe)
	if len(done) == 0 {
		return step{Reasoning: "See which tables there are.", Actions: []actionCall{{Name: a.describe, Params: map[string]any{}}}}, true
	}
	last := done[len(done)-1]
	if !last.Success || json.Unmarshal(last.Outputs, &a.described) != nil {
		a.failed = last.Message
		return step{}, false
	}
	src := schema.Source{Tables: a.described.Tables, Postgres: strings.EqualFold(a.described.Engine, "PostgreSQL")}
	broken := ""
	for _, r := range a.c.actionResults(a.query) {
		var res schema.Result
		if !r.Success || json.Unmarshal(r.Outputs, &res) != nil {
			broken = r.Message
			continue
		}
		src.Results = append(src.Results, res)
	}
	a.readings = question.Read(a.c.task, src)
	s := step{Reasoning: "Ask the tables what the question asks."}
	for i := range a.readings {
		r := &a.readings[i]
		if len(r.Statements) > 0 && (broken != "" || len(src.Results) > maxQueries) {
			r.Why, r.Statements = plan.ReasonEmpty, nil // a failed statement is not repeated
		}
		for _, sql := range r.Statements {
			s.Actions = append(s.Actions, actionCall{Name: a.query, Params: map[string]any{"SQL": sql}})
		}
	}
	return s, len(s.Actions) > 0
}

func (a *tableResearch) collectFindings(f *findings, kind string) {
	for _, r := range a.readings {
		ans := r.Answer
		if ans == nil {
			f.UnansweredParts = append(f.UnansweredParts, unansweredPart{r.Part, r.Why, r.Unknown})
			continue
		}
		f.Answers = append(f.Answers, finding{r.Part, *ans})
		f.Results = append(f.Results, tableResult{ans.Result.Statement, ans.Result.Columns, ans.Result.Rows})
	}
	for _, t := range a.described.Tables {
		h := holding{Path: t.Source()}
		for _, c := range t.Columns {
			h.Columns = append(h.Columns, c.Name)
		}
		if !slices.ContainsFunc(f.Holds, func(o holding) bool { return o.Path == h.Path }) {
			f.Holds = append(f.Holds, h)
		}
		if slices.ContainsFunc(f.Answers, func(x finding) bool { return slices.Contains(strings.Split(strings.Join(x.Paths, ", "), ", "), h.Path) }) {
			f.addSource(origin{Path: h.Path, Kind: kind, Rows: t.RowCount})
		}
	}
	f.NotRead = append(f.NotRead, a.described.NotRead...)
	if a.failed != "" {
		f.NotRead = append(f.NotRead, unread{kind, a.failed})
	}
}

// research answers from the files of a folder: tables by queries, the rest by quotes.
func research(c *conversation) step {
	a := &tableResearch{c: c, describe: "Describe Tables", query: "Query Tables"}
	lists := c.actionResults("List Files")
	if len(lists) == 0 {
		s := step{Reasoning: "See which files and tables there are.", Actions: []actionCall{{Name: "List Files", Params: map[string]any{}}}}
		if c.canCall(a.describe) {
			s.Actions = append(s.Actions, actionCall{Name: a.describe, Params: map[string]any{}})
		}
		return s
	}
	f := &findings{}
	if c.canCall(a.describe) {
		if s, more := a.nextStep(); more {
			return s
		}
		a.collectFindings(f, "table")
	}
	if a.readings == nil {
		f.addUnansweredParts(c.task)
	}
	var files struct {
		Files []file `json:"files"`
	}
	if last := lists[len(lists)-1]; !last.Success || json.Unmarshal(last.Outputs, &files) != nil {
		f.NotRead = append(f.NotRead, unread{"files", last.Message})
		return f.step(summary(f))
	}
	docs, left := documents(files.Files)
	for _, d := range docs {
		f.Holds = append(f.Holds, holding{Path: d.Path})
	}
	f.NotRead = append(f.NotRead, left...)
	if len(f.UnansweredParts) > 0 && len(docs) > 0 {
		texts, s, more := readDocuments(c, docs, f)
		if more {
			return s
		}
		f.quote(c.task, texts)
	}
	return f.step(summary(f))
}

func summary(f *findings) string {
	return fmt.Sprintf("Answered: %d. Not answered by this source: %d.", len(f.Answers)+len(f.Quotes), len(f.UnansweredParts))
}

// documents selects the texts of a folder, small ones first; tables are no texts.
func documents(files []file) (docs []file, left []unread) {
	for _, f := range files {
		switch {
		case f.Kind == "image" || f.Kind == "audio" || f.Kind == "video" || f.Kind == "binary":
			left = append(left, unread{f.Path, f.Kind})
		case slices.Contains([]string{".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".xlsx", ".xlsm"}, strings.ToLower(path.Ext(f.Path))):
		case f.Kind == "table" || f.Kind == "csv" || f.Kind == "tsv":
		case f.Size == 0:
			left = append(left, unread{f.Path, "empty"})
		default:
			docs = append(docs, f)
		}
	}
	slices.SortStableFunc(docs, func(a, b file) int { return cmp.Compare(a.Size, b.Size) })
	for _, f := range docs[min(len(docs), maxFiles):] {
		left = append(left, unread{f.Path, moreDocuments})
	}
	return docs[:min(len(docs), maxFiles)], left
}

// readDocuments reads the documents, long ones part by part.
func readDocuments(c *conversation, docs []file, f *findings) ([]passage.Document, step, bool) {
	type progress struct {
		passage.Document
		parts, next int // next is the offset of the rest, 0 if there is none
	}
	read := map[string]*progress{}
	failed := 0
	for _, a := range c.actionResults("Read File") {
		var r reading
		if !a.Success || json.Unmarshal(a.Outputs, &r) != nil {
			failed++
			f.NotRead = append(f.NotRead, unread{"document", a.Message})
			continue
		}
		d := read[r.Path]
		if d == nil {
			d = &progress{Document: passage.Document{Path: r.Path, Title: r.Title}}
			read[r.Path] = d
		}
		d.Text += r.Text
		d.parts++
		d.next = 0
		if r.Truncated {
			d.next = r.Offset + len([]rune(r.Text))
		}
	}
	s := step{Reasoning: "Read the documents for what the tables do not say."}
	var out []passage.Document
	for _, d := range docs {
		switch t := read[d.Path]; {
		case t == nil && failed == 0:
			s.Actions = append(s.Actions, actionCall{Name: "Read File", Params: map[string]any{"Path": d.Path}})
		case t == nil:
		case t.next > 0 && t.parts < maxParts && failed == 0:
			s.Actions = append(s.Actions, actionCall{Name: "Read File", Params: map[string]any{"Path": d.Path, "Offset": t.next}})
		default:
			if t.next > 0 {
				f.NotRead = append(f.NotRead, unread{d.Path, "read to its first parts only"})
			}
			out = append(out, t.Document)
		}
	}
	return out, s, len(s.Actions) > 0
}

func querying(c *conversation) step {
	a := &tableResearch{c: c, describe: "Describe Database", query: "Query Database"}
	if s, more := a.nextStep(); more {
		return s
	}
	f := &findings{}
	a.collectFindings(f, databaseTable)
	if a.readings == nil {
		f.addUnansweredParts(c.task)
	}
	return f.step(summary(f))
}
