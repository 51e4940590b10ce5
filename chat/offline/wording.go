package offline

import (
	"cmp"
	"fmt"
	"strings"

	"atelier/chat/offline/question/plan"
	"atelier/chat/offline/question/speech"
)

// wording is what reports say in one language.
type wording struct {
	refusal, holds, holdsNothing, notUsed                     string
	unknown, unsupported, ambiguous, unclear                  string
	views                                                     [mostPictures]string
	says, sources, source, contributed                        string
	notRead, notAvailable, notAnswered, first                 string
	illustration, figure, failed, notDrawn, cannotPaint, note string
	answers, quotes, tooMany, lines                           string
	noChart, mostCharts, otherChart                           string
	noInfographic, infographic, glance, nothingRead           string
	language, theTask                                         string
	// own are the texts of this program that come from elsewhere in English: reasons why a
	// source was not read or is not there. Nil leaves them.
	own map[string]string
	// kinds name the charts, by the kind that is drawn.
	kinds map[string]string
}

// refused is the fixed sentence of every answer that is none.
const refused = "Offline, this question cannot be answered"

// Note is what reports of this model say about themselves.
const Note = "Written by rule by Atelier's offline model, which is no language model: numbers come from queries over the tables, sentences are quoted word for word."

func englishWords() wording {
	return wording{
		refusal: refused, holds: "The sources hold: ", holdsNothing: "There is no source: give tables and documents with --files, --kb or --db.",
		notUsed: "Not used:",
		unknown: "no source names %s", unsupported: "causes, forecasts and opinions are in no table", ambiguous: "it can be read in several ways with different answers", unclear: "it is not understood",
		views: [mostPictures]string{"in the morning", "in the evening", "by day", "at dusk", "in mist", "in early light"},
		says:  "%s says: “%s”", sources: "Sources", source: "Source", contributed: "Contributed",
		notRead: "Not read:", notAvailable: "Not available to this research:", notAnswered: "Not answered",
		first:        "%d of %d rows are shown.",
		illustration: "Illustration: ", figure: "Figure", failed: "Some figures could not be made:",
		notDrawn: "Offline, these are not drawn: %s.", cannotPaint: "The illustration is left out: the offline painter does not draw %s.",
		note: Note, answers: "the figures of the answer", quotes: "the quoted sentences", tooMany: "%d pictures are the most of one report.", lines: "%s lines hold %s.",
		noChart: "The chart is left out: no answer has several values to draw.", mostCharts: "%d charts are the most of one report.",
		otherChart: "Offline, a %s is not drawn; the values are drawn as a %s.", noInfographic: "The infographic is left out: there is no answer to show.", infographic: "Infographic", glance: " at a glance", nothingRead: "Nothing could be read: ",
		language: "en", theTask: theTask,
		kinds: map[string]string{"line": "line chart", "bar": "bar chart"},
	}
}

func germanWords() wording {
	return wording{
		refusal: refused + ". Offline lässt sich diese Frage nicht beantworten", holds: "Die Quellen enthalten: ", holdsNothing: "Es gibt keine Quelle: Tabellen und Dokumente kommen mit --files, --kb oder --db.",
		notUsed: "Nicht benutzt:",
		unknown: "keine Quelle nennt %s", unsupported: "Gründe, Prognosen und Meinungen stehen in keiner Tabelle", ambiguous: "sie lässt sich auf mehrere Arten lesen, mit verschiedenen Antworten", unclear: "sie wird nicht verstanden",
		views: [mostPictures]string{"am Morgen", "am Abend", "bei Tag", "in der Dämmerung", "im Nebel", "im ersten Licht"},
		says:  "%s sagt: „%s“", sources: "Quellen", source: "Quelle", contributed: "Beitrag",
		notRead: "Nicht gelesen:", notAvailable: "Stand nicht zur Verfügung:", notAnswered: "Nicht beantwortet",
		first:        "%d von %d Zeilen sind gezeigt.",
		illustration: "Illustration: ", figure: "Abbildung", failed: "Einige Abbildungen ließen sich nicht machen:",
		notDrawn: "Offline wird das nicht gezeichnet: %s.", cannotPaint: "Die Illustration fehlt: Der Offline-Maler zeichnet das nicht: %s.",
		note:    "Nach Regeln geschrieben von Ateliers Offline-Modell, das kein Sprachmodell ist: Zahlen kommen aus Abfragen der Tabellen, Sätze sind wörtlich zitiert.",
		answers: "die Zahlen der Antwort", quotes: "die zitierten Sätze", tooMany: "Mehr als %d Bilder hat ein Bericht nicht.", lines: "%s Zeilen enthalten %s.",
		noChart: "Das Diagramm fehlt: Keine Antwort hat mehrere Werte, die sich zeichnen lassen.", mostCharts: "Mehr als %d Diagramme hat ein Bericht nicht.",
		otherChart: "Offline nicht gezeichnet wird: %s; die Werte zeigt ein %s.", noInfographic: "Die Infografik fehlt: Es gibt keine Antwort, die sie zeigen könnte.", infographic: "Infografik", glance: " auf einen Blick", nothingRead: "Nichts ließ sich lesen: ",
		language: string(speech.German), theTask: "die Aufgabe",
		own: map[string]string{
			"db": "Datenbank", "kb": "Wissensordner", "files": "Dateien", "web": "Web", "database table": "Datenbanktabelle", "table": "Tabelle", "document": "Dokument", "knowledge base": "Wissensordner",
			"give a folder with --files": "Ordner mit --files angeben", "give a database with --db": "Datenbank mit --db angeben",
			"give a folder of documents with --kb":                    "Ordner mit Dokumenten mit --kb angeben",
			"set SEARXNG_URL, BRAVE_SEARCH_API_KEY or TAVILY_API_KEY": "SEARXNG_URL, BRAVE_SEARCH_API_KEY oder TAVILY_API_KEY setzen",
			"image": "Bild", "audio": "Ton", "video": "Video", "binary": "kein Text", "empty": "leer", "the file is empty": "die Datei ist leer", "it is empty": "leer", "it is not text": "kein Text",
			"it has no columns": "keine Spalten", "read to its first parts only": "nur am Anfang gelesen", "the workbook is damaged": "die Arbeitsmappe ist beschädigt",
			"the sheet is damaged": "das Blatt ist beschädigt", "the workbook has no visible sheet": "die Arbeitsmappe hat kein sichtbares Blatt",
			"it is not an Excel workbook in the .xlsx format": "keine Excel-Mappe im Format .xlsx", "it is a web page, not a table: use Read File": "eine Webseite, keine Tabelle",
			"it contains no array of records: use Read File": "keine Liste von Datensätzen", moreDocuments: "mehr als 24 Dokumente",
		},
		kinds: map[string]string{"line": "Liniendiagramm", "bar": "Balkendiagramm"},
	}
}

// wordsFor is the wording of the language of a task.
func wordsFor(task string) wording {
	if speech.LanguageOf(task) == speech.German {
		return germanWords()
	}
	return englishWords()
}

// say writes a text of this program in the language of the report, where it knows it.
func (w wording) say(english string) string { return cmp.Or(w.own[english], english) }

// chartName is how a task's word for a kind of chart is said back.
func (w wording) chartName(named string) string {
	if w.own == nil {
		return named + " chart"
	}
	return capital(named) + "diagramm"
}

// why says why a part is not answered.
func (w wording) why(o open) string {
	switch o.Why {
	case plan.ReasonBeyond:
		return w.unsupported
	case plan.ReasonAmbiguous:
		return w.ambiguous
	case plan.ReasonUnknown:
		if len(o.Unknown) > 0 {
			return fmt.Sprintf(w.unknown, "“"+strings.Join(o.Unknown, "”, “")+"”")
		}
	}
	return w.unclear
}

// mostHeld bounds what a refusal lists.
const mostHeld = 12

// refusal is the answer to a task that the sources do not answer.
func refusal(task string, f *findings) string {
	w := wordsFor(task)
	said := w.refusal + ". "
	switch {
	case f != nil && len(f.Holds) == 0 && len(f.NotRead) > 0:
		return said + w.nothingRead + f.unreadable(w) + "."
	case f == nil || len(f.Holds) == 0:
		return said + w.holdsNothing
	}
	return said + w.holds + f.held() + "."
}

// unreadable lists the sources that could not be read, each with the reason.
func (f *findings) unreadable(w wording) string {
	var out []string
	for _, n := range f.NotRead[:min(len(f.NotRead), mostHeld)] {
		out = append(out, w.say(n.Path)+" ("+strings.TrimRight(w.say(n.Reason), ".")+")")
	}
	if n := len(f.NotRead) - mostHeld; n > 0 {
		out = append(out, fmt.Sprintf("+ %d", n))
	}
	return strings.Join(out, ", ")
}

// held lists what the sources hold.
func (f *findings) held() string {
	var out []string
	for _, h := range f.Holds[:min(len(f.Holds), mostHeld)] {
		one := h.Path
		if len(h.Columns) > 0 {
			one += " (" + strings.Join(h.Columns[:min(len(h.Columns), mostHeld)], ", ")
			if len(h.Columns) > mostHeld {
				one += " …"
			}
			one += ")"
		}
		out = append(out, one)
	}
	if n := len(f.Holds) - mostHeld; n > 0 {
		out = append(out, fmt.Sprintf("+ %d", n))
	}
	return strings.Join(out, "; ")
}
