package knowledge

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"atelier/action"
	"atelier/action/database"
	"atelier/action/file"
	"atelier/media"
)

const (
	// maxHits is the maximum number of passages of one search.
	maxHits = 20
	// perDocument is the maximum number of them from one document while other documents match.
	perDocument = 3
	// maxLooked is the maximum number of passages read from the index.
	maxLooked = 400
	// maxOutcome is the maximum size of one result in a prompt, in characters.
	maxOutcome = 12_000
	// maxTerms is the maximum number of terms of a search.
	maxTerms = 32
)

// hit is a passage as models see it.
type hit struct {
	Path    string `json:"path"`
	Title   string `json:"title"`
	Heading string `json:"heading,omitempty"`
	// Offset is the start of the passage in the document, in characters.
	Offset int    `json:"offset"`
	Text   string `json:"text"`
	// Score is higher for better hits.
	Score float64 `json:"score"`
}

// Actions returns Search Knowledge Base.
func (b *Base) Actions() []action.Action {
	return []action.Action{{
		Name: "Search Knowledge Base",
		Description: "Finds passages in the knowledge base by their words, best match first, each with its document. " +
			"Use several searches with different words; \"quoted words\" must be adjacent.",
		Tags: []string{"knowledge", action.TagSource},
		Params: []action.Param{
			{Name: "Query", Required: true, Description: "The words to search for."},
			{Name: "Count", Type: "integer", Default: 8, Description: "The maximum number of passages, 1 to 20."},
			{Name: "Path", Description: "Only documents whose path has this prefix. The default is all documents."},
			{Name: "results", Direction: action.Output, ValueType: action.Other, IsArray: true, Description: "path, title, heading, offset, text and score of each passage."},
			{Name: "resultCount", Direction: action.Output, Type: "integer", Description: "The number of passages."},
			{Name: "documentCount", Direction: action.Output, Type: "integer", Description: "The number of documents searched."},
			{Name: "skipped", Direction: action.Output, ValueType: action.Other, IsArray: true, Description: "path and reason of documents that cannot be searched."},
		},
		Run: b.search,
	}}
}

// search runs Search Knowledge Base.
func (b *Base) search(ctx context.Context, c *action.Call) (action.Result, error) {
	count := c.Int("Count")
	if count < 1 || count > maxHits {
		return action.Result{}, media.Errorf(media.CodeInvalid, "Count must be 1 to %d, not %d", maxHits, count)
	}
	terms := words(c.Text("Query"))
	if len(terms) == 0 {
		return action.Result{}, media.Errorf(media.CodeInvalid, "Query contains no word to search for")
	}
	report, err := b.refresh(ctx, b.cfg.Refresh)
	if err != nil {
		return action.Result{}, err
	}
	hits, err := b.find(ctx, terms, strings.TrimPrefix(strings.TrimSpace(c.Text("Path")), "./"), count)
	if err != nil {
		return action.Result{}, err
	}
	size := 0
	for i, h := range hits {
		if size += len([]rune(h.Text)) + 200; size > maxOutcome && i > 0 {
			hits = hits[:i]
			break
		}
	}
	res := action.Result{
		Message: fmt.Sprintf("%d passages in %d documents searched", len(hits), report.Documents),
		Outputs: map[string]any{"results": hits, "resultCount": len(hits), "documentCount": report.Documents},
	}
	if len(hits) == 0 {
		res.Message = fmt.Sprintf("None of the %d documents contains these words: try other words", report.Documents)
		res.Outputs["results"] = []any{}
	}
	if len(report.Skipped) > 0 {
		skipped := slices.Clone(report.Skipped[:min(10, len(report.Skipped))])
		for i, s := range skipped {
			skipped[i] = file.Skipped{Path: file.Clip(s.Path, 120), Reason: file.Clip(s.Reason, 120)}
		}
		res.Outputs["skipped"] = skipped
	}
	return res, nil
}

// find searches for passages with all words, then for those with some.
func (b *Base) find(ctx context.Context, terms []string, path string, count int) ([]hit, error) {
	var out, spare []hit
	seen, from := map[int64]bool{}, map[string]int{}
	for _, join := range []string{" AND ", " OR "} {
		found, err := b.match(ctx, strings.Join(terms, join), path)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			switch {
			case seen[f.id]:
			case from[f.Path] >= perDocument:
				spare = append(spare, f.hit)
			default:
				from[f.Path]++
				out = append(out, f.hit)
			}
			seen[f.id] = true
		}
		if len(out) >= count || len(terms) == 1 {
			break
		}
	}
	out = append(out, spare...)
	return out[:min(count, len(out))], nil
}

// match is a passage with its row id.
type match struct {
	hit
	id int64
}

// match queries the index. The weights favour words in a title or heading. It returns at most maxHits passages of one
// document, so that the longest document does not fill the list.
func (b *Base) match(ctx context.Context, query, path string) ([]match, error) {
	out, err := database.List(ctx, b.db, `
		WITH found AS MATERIALIZED (SELECT rowid AS id, -bm25(word, 3.0, 2.0, 1.0) AS score FROM word WHERE word MATCH ?),
		placed AS (
			SELECT f.id, f.score, row_number() OVER (PARTITION BY p.document ORDER BY f.score DESC, p.start) AS place
			FROM found f JOIN passage p ON p.id = f.id JOIN document d ON d.id = p.document
			WHERE substr(d.path, 1, length(?)) = ?)
		SELECT p.id, d.path, d.title, p.heading, p.start, p.text, c.score
		FROM placed c JOIN passage p ON p.id = c.id JOIN document d ON d.id = p.document
		WHERE c.place <= ? ORDER BY c.score DESC, d.path, p.start LIMIT ?`, func(scan func(...any) error) (m match, err error) {
		err = scan(&m.id, &m.Path, &m.Title, &m.Heading, &m.Offset, &m.Text, &m.Score)
		m.Title, m.Heading, m.Text = file.Clip(m.Title, 200), file.Clip(m.Heading, 200), file.Clip(m.Text, maxLength)
		m.Score = math.Round(m.Score*1000) / 1000
		return m, err
	}, query, path, path, maxHits, maxLooked)
	return out, explain(err)
}

// words converts a query to terms of FTS5: each word is quoted; quoted words, and characters of one run of a script
// without spaces, become phrases. Nothing is interpreted as an operator.
func words(query string) []string {
	var out []string
	add := func(text string) {
		fields := strings.FieldsFunc(segment(text), func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.M, r)
		})
		if len(fields) > 0 && len(out) < maxTerms {
			out = append(out, `"`+file.Clip(strings.Join(fields, " "), 200)+`"`)
		}
	}
	for i, part := range strings.Split(query, `"`) {
		if i%2 == 1 {
			add(part)
			continue
		}
		for _, w := range strings.Fields(part) {
			if !slices.Contains(stopWords, strings.Trim(strings.ToLower(w), ".,;:!?")) {
				add(w)
			}
		}
	}
	if len(out) == 0 { // only common words, so use them
		for _, w := range strings.Fields(strings.ReplaceAll(query, `"`, " ")) {
			add(w)
		}
	}
	return out
}

// stopWords are English words that carry no meaning for a search.
var stopWords = strings.Fields(`a an and are as at be by can do does for from has have how in is it its of on
	or our that the their there this to was we were what when where which who why with you your`)
