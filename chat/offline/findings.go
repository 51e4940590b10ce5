package offline

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"atelier/chat/offline/question"
	"atelier/chat/offline/question/answer"
	"atelier/chat/offline/question/passage"
	"atelier/chat/offline/question/plan"
	"atelier/chat/offline/question/speech"
)

// findings is what a researcher returns and a writer writes from.
type findings struct {
	Answers         []finding        `json:"answers,omitempty"`
	Quotes          []quoted         `json:"quotes,omitempty"`
	UnansweredParts []unansweredPart `json:"unanswered,omitempty"`
	Results         []tableResult    `json:"results,omitempty"`
	Holds           []holding        `json:"holds,omitempty"`
	Sources         []origin         `json:"sources,omitempty"`
	NotRead         []unread         `json:"not_read,omitempty"`
}

// finding is the answer from tables to one part of the task.
type finding struct {
	Part string `json:"part"`
	answer.Answer
}

// tableResult is a query with its result, in the form that every writer receives.
type tableResult struct {
	Statement string   `json:"statement"`
	Columns   []string `json:"columns"`
	Rows      [][]any  `json:"rows"`
}

// quoted holds whole sentences that answer one part of the task.
type quoted struct {
	Part string `json:"part"`
	passage.Quote
}

// unansweredPart is a part that a source does not answer.
type unansweredPart struct {
	Part    string      `json:"part"`
	Why     plan.Reason `json:"why"`
	Unknown []string    `json:"unknown,omitempty"`
}

// holding is what a source contains: a table with its columns, or a document.
type holding struct {
	Path    string   `json:"path"`
	Columns []string `json:"columns,omitempty"`
}

// origin is one source that was used.
type origin struct {
	Path  string `json:"path"`
	Title string `json:"title,omitempty"`
	Kind  string `json:"kind"`
	Rows  int64  `json:"rows,omitempty"`
}

// unread is a source that was not used, with the reason.
type unread struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

func (f *findings) quote(task string, docs []passage.Document) {
	lang := speech.LanguageOf(task)
	f.UnansweredParts = slices.DeleteFunc(f.UnansweredParts, func(o unansweredPart) bool {
		qs := passage.Quotes(o.Part, lang, docs)
		for _, q := range qs {
			f.Quotes = append(f.Quotes, quoted{o.Part, q})
			f.addSource(origin{Path: q.Path, Title: q.Title, Kind: "document"})
		}
		return len(qs) > 0
	})
	for i := range f.UnansweredParts { // words that a document contains are not unknown
		o := &f.UnansweredParts[i]
		o.Unknown = slices.DeleteFunc(o.Unknown, func(w string) bool {
			return slices.ContainsFunc(docs, func(d passage.Document) bool { return strings.Contains(strings.ToLower(d.Text), strings.ToLower(w)) })
		})
	}
}

func (f *findings) addSource(o origin) {
	if !slices.ContainsFunc(f.Sources, func(have origin) bool { return have.Path == o.Path }) {
		f.Sources = append(f.Sources, o)
	}
}

// addUnansweredParts records every part of the task as open, for sources without tables.
func (f *findings) addUnansweredParts(task string) {
	for _, p := range question.Parts(task) {
		f.UnansweredParts = append(f.UnansweredParts, unansweredPart{Part: p, Why: plan.ReasonUnknown})
	}
}

func (f *findings) step(message string) step {
	return step{Reasoning: "Everything that answers the task is read.", Done: true, Message: message, Payload: f.payload()}
}

// payload encodes the findings and escapes placeholders in them: they are text of a source, not media of this run.
func (f *findings) payload() map[string]any {
	b, err := json.Marshal(f)
	if err != nil {
		return nil
	}
	var out map[string]any
	if json.Unmarshal(bytes.ReplaceAll(b, []byte("${media:"), []byte("$${media:")), &out) != nil {
		return nil
	}
	return out
}

// gather collects the findings at any depth of the input. A part that one source answers is not open.
func gather(input map[string]any) findings {
	var all findings
	visit(input, func(v any) bool {
		t, _ := v.(map[string]any)
		if t["sources"] == nil && t["unanswered"] == nil && t["holds"] == nil && t["not_read"] == nil {
			return true
		}
		var one findings
		b, err := json.Marshal(t)
		if err != nil || json.Unmarshal(b, &one) != nil {
			return true // an object of another shape
		}
		all.add(one)
		return false
	})
	var once []unansweredPart
	for _, o := range all.UnansweredParts {
		if !all.answered(o.Part) && !slices.ContainsFunc(once, func(have unansweredPart) bool { return have.Part == o.Part }) {
			once = append(once, o)
		}
	}
	all.UnansweredParts = once
	return all
}

func (f *findings) answered(part string) bool {
	return slices.ContainsFunc(f.Answers, func(a finding) bool { return a.Part == part }) || slices.ContainsFunc(f.Quotes, func(q quoted) bool { return q.Part == part })
}

func (f *findings) add(one findings) {
	f.Answers = append(f.Answers, slices.DeleteFunc(one.Answers, func(a finding) bool { return len(a.Sentences) == 0 })...)
	f.Quotes = append(f.Quotes, one.Quotes...)
	f.UnansweredParts = append(f.UnansweredParts, one.UnansweredParts...)
	f.Results = append(f.Results, one.Results...)
	f.Holds = append(f.Holds, one.Holds...)
	for _, s := range one.Sources {
		f.addSource(s)
	}
	f.NotRead = append(f.NotRead, one.NotRead...)
}

func (a finding) sentence() string {
	return strings.TrimSuffix(a.Sentences[0], ".") + " (" + strings.Join(a.Paths, ", ") + ")."
}
