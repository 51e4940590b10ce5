package report

import (
	"cmp"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/net/html"

	"atelier/agent/evidence"
	"atelier/agent/resolve"
	"atelier/media"
)

// words are the texts of the renderer itself, in the language of a report.
type words struct {
	language, report, alsoMade, unused, notesTitle string

	// writtenByRule names an author that is not a language model; drawing and table label scrolling frames.
	writtenByRule, drawing, table string

	numbers, unsupported, noSource, query, fromQueries, computed, computedFrom, and, otherSources string

	// kinds are names of computations; sources are names of texts that people provided.
	kinds   map[string]string
	sources map[string]string

	// madeByModel, editedByModel and byRule describe how a picture was made.
	madeByModel, editedByModel, byRule string
}

// wordsFor returns the words for a language tag, or, if it is empty, for the language of the text:
// German if German words are in the majority, otherwise English.
func wordsFor(tag string, root *html.Node) words {
	if strings.HasPrefix(strings.ToLower(tag), "de") || tag == "" && isGerman(wordsOf(root)) {
		return german()
	}
	return english()
}

func english() words {
	return words{
		language: "en", report: "Report", alsoMade: "Also made", unused: "The run made this too; the report does not use it.", notesTitle: "Notes",
		writtenByRule: "Written by %s: rules applied to the sources, no language model.", drawing: "Drawing", table: "Table",
		numbers: "Numbers and queries", unsupported: "Not supported by any query or source:", noSource: "No query result and no source holds this number",
		query: "Query", fromQueries: "From these queries:", computed: "Computed from the result:", computedFrom: "computed from", and: "and", otherSources: "Other numbers stand in:",
		kinds:       map[string]string{"sum": "sum", "difference": "difference", "ratio": "ratio", "share": "share", "change": "change"},
		sources:     map[string]string{evidence.Task: "the task", evidence.Input: "the data given", evidence.Conversation: "the conversation", evidence.Answer: "an answer"},
		madeByModel: "AI-generated", editedByModel: "Partly AI-generated", byRule: "Illustration, drawn by rule",
	}
}

func german() words {
	return words{
		language: "de", report: "Bericht", alsoMade: "Außerdem entstanden", unused: "Auch das ist entstanden; der Bericht verwendet es nicht.", notesTitle: "Anmerkungen",
		writtenByRule: "Geschrieben von %s: Regeln, angewandt auf die Quellen, kein Sprachmodell.", drawing: "Zeichnung", table: "Tabelle",
		numbers: "Zahlen und Abfragen", unsupported: "Durch keine Abfrage und keine Quelle belegt:", noSource: "Keine Abfrage und keine Quelle enthält diese Zahl",
		query: "Abfrage", fromQueries: "Aus diesen Abfragen:", computed: "Aus dem Ergebnis berechnet:", computedFrom: "berechnet aus", and: "und", otherSources: "Weitere Zahlen stehen in:",
		kinds:       map[string]string{"sum": "Summe", "difference": "Differenz", "ratio": "Verhältnis", "share": "Anteil", "change": "Veränderung"},
		sources:     map[string]string{evidence.Task: "Aufgabe", evidence.Input: "übergebene Daten", evidence.Conversation: "Gespräch", evidence.Answer: "Antwort", "Describe Tables": "Beschreibung der Tabellen", "Describe Database": "Beschreibung der Datenbank"},
		madeByModel: "KI-generiert", editedByModel: "Teils KI-generiert", byRule: "Illustration, nach Regeln gezeichnet",
	}
}

// isGerman compares the counts of words that occur in only one of the two languages.
func isGerman(text string) bool {
	german, english := 0, 0
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) }) {
		switch w {
		case "der", "die", "das", "und", "ist", "nicht", "mit", "von", "im", "den", "für", "auf", "ein", "eine", "wurde", "zu", "bei", "sind", "als", "aus":
			german++
		case "the", "and", "of", "is", "to", "with", "for", "by", "are", "it", "from", "that", "this", "at", "were":
			english++
		}
	}
	return german > english
}

// The IPTC terms in the metadata of generated pictures.
const (
	sourceModel  = "trainedAlgorithmicMedia"
	sourceEdited = "compositeWithTrainedAlgorithmicMedia"
	sourceRule   = "algorithmicMedia"
)

// made says how a picture was made; empty if it was not generated.
func (w words) made(o media.Output) string {
	term, _ := o.Metadata["digital_source_type"].(string)
	term = term[strings.LastIndexByte(term, '/')+1:]
	switch {
	case o.Modality != media.ModalityImage:
		return ""
	case term == sourceModel:
		return w.madeByModel
	case term == sourceEdited:
		return w.editedByModel
	case term == sourceRule:
		return w.byRule
	}
	return ""
}

// caption returns the caption of a picture that stands alone.
func (w words) caption(o media.Output) string {
	label := cmp.Or(resolve.WithoutMarks(o.Label), string(o.Modality))
	if made := w.made(o); made != "" {
		return label + ". " + made
	}
	return label
}

// number formats a number in plain digits, with the language's decimal separator.
func (w words) number(v float64) string {
	text := strconv.FormatFloat(v, 'f', -1, 64)
	if w.language == "de" {
		return strings.Replace(text, ".", ",", 1)
	}
	return text
}
