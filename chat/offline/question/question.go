// Package question reads a question in English or German against the tables that a research described,
// and plans the one SQL statement that answers it: a total, a mean, a ranking, a count, a share, a
// change, a value at a time, a list or a lookup. Every content word of the question must name a table,
// a column, a value, a time or an operation; a question with a word that names nothing is not answered.
//
// It executes no statement and is independent of chat: the caller executes the statements that a Reading
// requests and calls Read again with their results. It returns no errors: a part that cannot be answered is a
// Reading with a reason. It imports speech, schema, parse, plan and answer, which do the work in this order.
package question

import (
	"atelier/chat/offline/question/answer"
	"atelier/chat/offline/question/parse"
	"atelier/chat/offline/question/plan"
	"atelier/chat/offline/question/schema"
	"atelier/chat/offline/question/speech"
	"atelier/internal/pattern"
)

// Reading is the result of reading one part of a question.
type Reading struct {
	// Part is the part as asked.
	Part string
	// Statements are the statements that must be executed before the part is answered.
	Statements []string
	// Answer is set if all statements are executed and the part is answered.
	Answer *answer.Answer
	// Unknown are the content words that name nothing in the sources.
	Unknown []string
	// Why is the reason why a part is not answered: ReasonUnknown, ReasonAmbiguous …
	Why plan.Reason
	// best is the likeliest plan.
	best *plan.Plan
}

// Read reads a question part by part. Given the results of all statements that its readings
// name under Ask, it answers them.
func Read(task string, src schema.Source) []Reading {
	lang, lex := speech.LanguageOf(task), speech.DefaultLexicon()
	views, vocab := src.Views()
	var out []Reading
	for _, p := range parts(task) {
		r := reader{Matcher: parse.Matcher{Tagger: parse.Tagger{Utterance: speech.Utterance{Lex: lex, Lang: lang, Vocabulary: vocab}}, Views: views}, src: &src}
		if !p.follows || len(out) == 0 {
			out = append(out, r.read(p.text))
			continue
		}
		last := &out[len(out)-1]
		figure, points := howMuch().MatchString(p.text), pointing().MatchString(p.text)
		if figure && last.best != nil && last.best.States(speech.Tokens(howMuch().ReplaceAllString(p.text, ""), lang)) {
			continue // the answer before it already says that
		}
		next := Reading{Part: p.text, Why: plan.ReasonUnclear}
		switch {
		case points: // and on which island was it: half is no answer
			*last = Reading{Part: last.Part, Why: plan.ReasonUnclear}
		case !figure || last.best != nil:
			next = r.read(p.text)
			switch same := next.best != nil && last.best != nil && next.best.View == last.best.View; {
			case same && figure && last.best.Superlative != nil:
				next = Reading{Part: p.text, Why: plan.ReasonUnclear} // the best region, and the average revenue: of it or of all
			case same && last.best.Restricts() && !next.best.Restricts():
				next = Reading{Part: p.text, Why: plan.ReasonAmbiguous} // the members in Leeds, and the average fee: of these or of all
			}
		}
		out = append(out, next)
	}
	return out
}

// howMuch matches the beginning of a question for a figure.
var howMuch = pattern.Lazy(`(?i)^(?:how (?:much|many|high|large|big|low|long|far|hot|cold|warm|tall|heavy|old|often)|what (?:was|were|is|are|does)|wie ?(?:viele?|hoch|groß|lange?|warm|kalt|heiß|schwer|alt|oft|war|waren|ist|sind|lautet)|was (?:war|ist))\b`)

// pointing matches a word for what was found before.
var pointing = pattern.Lazy(`(?i)\b(?:it|its|that|this|they|them|their|those|these|he|she|er|sie|es|ihre?[rnms]?|diese[rsnm]?|deren|davon|dabei|dafür|dort)\b|\bthere\s*$`)
