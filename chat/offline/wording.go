package offline

import (
	"cmp"
	"fmt"
	"strings"

	"atelier/chat/offline/question/plan"
	"atelier/chat/offline/question/speech"
)

// wording holds the texts of this model in one language.
type wording struct{ speech.Language }

// refused is the fixed sentence of every refusal.
const refused = "Offline, this question cannot be answered"

// Note is the statement that reports of this model make about themselves.
const Note = "Written by rule by Atelier's offline model, which is no language model: numbers come from queries over the tables, sentences are quoted word for word."

func (w wording) refusal() string {
	return w.Say(refused, refused+". Offline lässt sich diese Frage nicht beantworten")
}

func (w wording) notDrawn() string {
	return w.Say("Offline, these are not drawn: %s.", "Offline wird das nicht gezeichnet: %s.")
}

func (w wording) infographic() string { return w.Say("Infographic", "Infografik") }

// german translates texts of this program that arrive in English: kinds of sources, and
// reasons why a source was not read or is missing.
var german = map[string]string{
	"db": "Datenbank", "kb": "Wissensordner", "files": "Dateien", "web": "Web", "database table": "Datenbanktabelle", "table": "Tabelle", "document": "Dokument", "knowledge base": "Wissensordner",
	"give a folder with --files": "Ordner mit --files angeben", "give a database with --db": "Datenbank mit --db angeben",
	"give a folder of documents with --kb":                    "Ordner mit Dokumenten mit --kb angeben",
	"set SEARXNG_URL, BRAVE_SEARCH_API_KEY or TAVILY_API_KEY": "SEARXNG_URL, BRAVE_SEARCH_API_KEY oder TAVILY_API_KEY setzen",
	"image": "Bild", "audio": "Ton", "video": "Video", "binary": "kein Text", "empty": "leer", "the file is empty": "die Datei ist leer", "it is empty": "leer", "it is not text": "kein Text",
	"it has no columns": "keine Spalten", "read to its first parts only": "nur am Anfang gelesen", "the workbook is damaged": "die Arbeitsmappe ist beschädigt",
	"the sheet is damaged": "das Blatt ist beschädigt", "the workbook has no visible sheet": "die Arbeitsmappe hat kein sichtbares Blatt",
	"it is not an Excel workbook in the .xlsx format": "keine Excel-Mappe im Format .xlsx", "it is a web page, not a table: use Read File": "eine Webseite, keine Tabelle",
	"it contains no array of records: use Read File": "keine Liste von Datensätzen", moreDocuments: "mehr als 24 Dokumente",
}

// wordsFor returns the wording in the language of a task.
func wordsFor(task string) wording { return wording{speech.LanguageOf(task)} }

// say translates a text of this program into the language of the report if a translation is known.
func (w wording) say(english string) string { return w.Say(english, cmp.Or(german[english], english)) }

// chartName returns the name of a kind of chart, from the word that the task uses.
func (w wording) chartName(named string) string {
	return w.Say(named+" chart", speech.Upper(named)+"diagramm")
}

// why returns the reason why a part is not answered.
func (w wording) why(o unansweredPart) string {
	switch o.Why {
	case plan.ReasonBeyond:
		return w.Say("causes, forecasts and opinions are in no table", "Gründe, Prognosen und Meinungen stehen in keiner Tabelle")
	case plan.ReasonAmbiguous:
		return w.Say("it can be read in several ways with different answers", "sie lässt sich auf mehrere Arten lesen, mit verschiedenen Antworten")
	case plan.ReasonUnknown:
		if len(o.Unknown) > 0 {
			return fmt.Sprintf(w.Say("no source names %s", "keine Quelle nennt %s"), "“"+strings.Join(o.Unknown, "”, “")+"”")
		}
	}
	return w.Say("it is not understood", "sie wird nicht verstanden")
}

// maxStated limits each list in a refusal.
const maxStated = 12

// refusal returns the answer to a task that the sources do not answer.
func refusal(task string, f *findings) string {
	w := wordsFor(task)
	text := w.refusal() + ". "
	switch {
	case f != nil && len(f.Holds) == 0 && len(f.NotRead) > 0:
		return text + w.Say("Nothing could be read: ", "Nichts ließ sich lesen: ") + listed(f.NotRead, ", ", func(n unread) string {
			return w.say(n.Path) + " (" + strings.TrimRight(w.say(n.Reason), ".") + ")"
		}) + "."
	case f == nil || len(f.Holds) == 0:
		return text + w.Say("There is no source: give tables and documents with --files, --kb or --db.", "Es gibt keine Quelle: Tabellen und Dokumente kommen mit --files, --kb oder --db.")
	}
	return text + w.Say("The sources hold: ", "Die Quellen enthalten: ") + listed(f.Holds, "; ", func(h holding) string {
		if len(h.Columns) == 0 {
			return h.Path
		}
		more := ""
		if len(h.Columns) > maxStated {
			more = " …"
		}
		return h.Path + " (" + strings.Join(h.Columns[:min(len(h.Columns), maxStated)], ", ") + more + ")"
	}) + "."
}

// listed joins the texts of at most maxStated elements, and says how many more there are.
func listed[T any](all []T, separator string, text func(T) string) string {
	var out []string
	for _, x := range all[:min(len(all), maxStated)] {
		out = append(out, text(x))
	}
	if n := len(all) - maxStated; n > 0 {
		out = append(out, fmt.Sprintf("+ %d", n))
	}
	return strings.Join(out, separator)
}
