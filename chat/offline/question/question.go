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
	"slices"
	"strings"

	"atelier/chat/offline/question/answer"
	"atelier/chat/offline/question/parse"
	"atelier/chat/offline/question/plan"
	"atelier/chat/offline/question/schema"
	"atelier/chat/offline/question/speech"
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
	// plan is the only plan that fits, if there is only one; best is the likeliest plan.
	plan, best *plan.Plan
}

// states reports whether the answer states the time, place, person or quantity that a
// following part asks for, or is not known yet.
func (r *Reading) states(text string, lang speech.Language) bool {
	if r.best == nil {
		return true
	}
	ts := speech.Tokens(text, lang)
	switch ts[0].Fold {
	case "when", "wann":
		return r.best.SaysTime("")
	case "who", "whom", "wer", "wen", "wem":
		return r.best.SaysWho()
	case "where", "wo", "woher", "wohin":
		return r.best.SaysWhere()
	case "why", "warum":
		return false
	}
	return !r.best.LeavesUncovered(ts)
}

// counts reports whether a following part only asks for the figure of a ranking: how many kilos.
func (r *Reading) counts(text string) bool {
	match := unitOnly().FindStringSubmatch(text)
	if match == nil || r.best == nil || r.best.Op != plan.OpRank {
		return false
	}
	m, word := r.best.First(), strings.ToLower(match[1])
	if word == "" || word == "times" || word == "male" {
		return m == nil && r.best.Counted == nil
	}
	return m != nil && schema.UnitNames[word] != "" && schema.UnitNames[word] == m.Field.UnitName()
}

// covers reports whether the answer has a column for every content word of a request for a name, or is not known yet.
func (r *Reading) covers(text string, lang speech.Language) bool {
	if r.Answer == nil {
		return len(r.Statements) > 0
	}
	lex := speech.DefaultLexicon()
	ts := speech.Tokens(text, lang)
	for i, t := range ts {
		if at := slices.IndexFunc(lex.Phrases[t.Fold], func(p speech.Phrase) bool { return p.Kind == speech.KindUnit && len(p.Words) == 1 }); at >= 0 {
			if r.best != nil && !r.best.SaysTime(lex.Phrases[t.Fold][at].Arg) {
				return false
			}
			continue
		}
		mean := slices.ContainsFunc(lex.Phrases[t.Fold], func(p speech.Phrase) bool { return p.Kind == speech.KindAgg && p.Arg == "avg" && len(p.Words) == 1 })
		if mean && !slices.ContainsFunc(r.Answer.Result.Columns, func(c string) bool {
			return strings.HasPrefix(c, "mean ") || strings.HasPrefix(c, "Mittelwert ")
		}) {
			return false
		}
		which := i > 0 && (strings.HasPrefix(ts[i-1].Fold, "which") || strings.HasPrefix(ts[i-1].Fold, "welche"))
		if (lex.Small(t) || asking[t.Fold]) && !which {
			continue
		}
		if !slices.ContainsFunc(r.Answer.Result.Columns, func(c string) bool {
			return slices.ContainsFunc(schema.SplitName(c), func(w string) bool {
				return speech.SameWord(t, speech.Token{Fold: w, Stem: speech.Stem(w)}) || lex.Shared(t.Stem, speech.Stem(w))
			})
		}) {
			return false
		}
	}
	return true
}

// asking are the verbs of a request for a name.
var asking = speech.Folded("give state name tell include mention nenne nenn gib nennen angeben please bitte")

// Read reads a question part by part. Given the results of all statements that its readings
// name under Ask, it answers them.
func Read(task string, src schema.Source) []Reading {
	lang := speech.LanguageOf(task)
	lex := speech.DefaultLexicon()
	views, vocab := src.Views() // the tables of several years become one
	var out []Reading
	for _, p := range parts(task) {
		r := reader{Matcher: parse.Matcher{Tagger: parse.Tagger{Utterance: speech.Utterance{Lex: lex, Lang: lang, Vocabulary: vocab}}, Views: views}, src: &src}
		if n := len(out); n > 0 {
			if goesOn, said := p.continuesPrevious(&r, out[n-1].plan); goesOn && said {
				continue
			} else if goesOn {
				out = append(out, r.readFollowUp(p.text, out[n-1].plan))
				continue
			}
		}
		if p.follows && len(out) > 0 && out[len(out)-1].counts(p.text) {
			continue
		}
		if p.follows && (pronoun().MatchString(p.text) || bare().MatchString(p.text)) && len(out) > 0 {
			last, name := &out[len(out)-1], ""
			if last.best != nil {
				name = last.best.Subject()
			}
			if name != "" {
				if next := r.read(pronoun().ReplaceAllLiteralString(p.text, name)); len(next.Statements) > 0 || next.Answer != nil && (last.Answer == nil || !agree(last.Answer, next.Answer)) {
					out = append(out, next) // in which year did Emma come out
					continue
				}
			}
			if name != "" || whichOne().MatchString(p.text) && !last.covers(p.text, lang) || !last.states(p.text, lang) {
				*last = Reading{Part: p.text, Why: plan.ReasonUnclear} // and on which island was it: half is no answer
			}
			continue // the answer before it already says that
		}
		if p.follows && len(out) > 0 && ofExtreme(lex, out[len(out)-1].Part, p.text, lang) {
			if !out[len(out)-1].covers(p.text, lang) {
				out = append(out, Reading{Part: p.text, Why: plan.ReasonUnclear})
			}
			continue
		}
		if p.names && len(out) > 0 && out[len(out)-1].covers(p.text, lang) {
			continue
		}
		next := r.read(p.text)
		if n := len(out); p.follows && n > 0 && broadensScope(out[n-1].plan, next.plan) {
			next = Reading{Part: p.text, Why: plan.ReasonAmbiguous}
		}
		out = append(out, next)
	}
	return out
}
