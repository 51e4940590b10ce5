// Package speech reads words in English and German, independent of any table: tokens, numbers
// and times; the lexicon of synonyms and of question words; and what an answer says in either
// language. It returns no errors and imports only the standard library and internal/pattern.
package speech

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"atelier/internal/pattern"
)

var germanWords = Folded(`der die das den dem des ein eine einen einem einer ist sind war waren wird wurde wurden und oder nicht mit von vom zum zur für
wie wieviel wieviele viel viele welche welcher welches welchen welchem wer was wann wo hat haben gibt im bei nach seit zwischen bis pro je durchschnittlich durchschnitt anteil
meiste meisten fiel fielen größte größten niedrigste niedrigsten wenigsten häufigsten es sich bitte durch ohne kein keine ins ab aus höchste höchsten umsatz mitarbeiter anzahl summe insgesamt unser unsere kunden bericht über erstelle zeige nenne auf als am
zeichne male mal mach mache warum mir mich mein meine hast bild bilder hallo guten`)

var englishWords = Folded(`the a an of is are was were which what how many much who when where does did do has have had on at for to from with and or
total average highest lowest by per between over list show create report our we there that please me my draw make paint it you add into picture pictures why`)

// Folded returns a set of words, folded as tokens are.
func Folded(text string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(text) {
		out[Fold(w)] = true
	}
	return out
}

// Stems returns the set of the stems of some words.
func Stems(words string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		out[Stem(Fold(w))] = true
	}
	return out
}

// LanguageOf returns the language of a text: German if most of its small words are German, otherwise English.
func LanguageOf(text string) Language {
	de, en := 0, 0
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\n.,;:?!\"“”„()'", r) }) {
		if w = Fold(w); germanWords[w] {
			de++
		}
		if englishWords[w] {
			en++
		}
	}
	if strings.ContainsAny(text, "äöüßÄÖÜ") {
		de++
	}
	if de > en {
		return German
	}
	return English
}

var abbreviation = pattern.Lazy(`(?i)(?:\b(?:nr|no|vs|ca|bzw|e\.g|i\.e|z\.b|dr|mr|mrs|ms|st|str|inc|co|jan|feb|mar|apr|aug|sept?|oct|okt|nov|dec|dez)|\b\d{1,2}|(?-i:\b\p{Lu}))$`)

// Abbreviated reports whether a period ends an abbreviation or a German ordinal.
func Abbreviated(head, rest string) bool {
	if !abbreviation().MatchString(head) {
		return false
	}
	first, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	if n := len(head); n > 0 && head[n-1] >= '0' && head[n-1] <= '9' {
		_, month := MonthNames[Fold(first)]
		return month || strings.HasPrefix(Fold(first), "quartal") || strings.HasPrefix(Fold(first), "halbjahr") || strings.HasPrefix(Fold(first), "platz")
	}
	return true
}

// QuotedText returns a text as a quoted SQL literal.
func QuotedText(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// Language is the language of a question and of its answer.
type Language string

// The languages that questions are read in.
const (
	English Language = "en"
	German  Language = "de"
)

// Percent formats a share in %, with at most two decimals.
func (l Language) Percent(v float64) string { return Number(v, 2, l) + "\u00a0%" }

// Articles are articles and possessives.
var Articles = Folded("the our a an this my your their its that die der das dem den des unser unsere unserer unserem ein eine einer im am vom zum zur dieser diesem")

// Beings are verbs of being; before a participle they make a passive.
var Beings = Folded("are were is was be been being")

// Say returns the text in the language.
func (l Language) Say(en, de string) string {
	if l == German {
		return de
	}
	return en
}

// RowsName returns the word for rows.
func (l Language) RowsName() string { return l.Say("rows", "Zeilen") }

// During returns a time as a phrase in a sentence: in 1931, on 3 March 2024, on Mondays, im Jahr 1931, in Q1 2024.
func (l Language) During(t Period) string {
	text := l.When(t)
	switch {
	case t.Unit == "weekday":
		return l.Say("on "+text+"s", "am "+text)
	case t.Unit == "day" || t.Unit == "dayOfYear":
		return l.Say("on ", "am ") + text
	case l == German && t.Unit == "year":
		return "im Jahr " + text
	case strings.HasPrefix(text, "Q"):
		return "in " + text
	}
	return l.Say("in ", "im ") + text
}

// MonthsEnglish are the English names of the months.
var MonthsEnglish = strings.Fields("January February March April May June July August September October November December")

var monthsGerman = strings.Fields("Januar Februar März April Mai Juni Juli August September Oktober November Dezember")

var weekdaysEnglish = strings.Fields("Sunday Monday Tuesday Wednesday Thursday Friday Saturday")

var weekdaysGerman = strings.Fields("Sonntag Montag Dienstag Mittwoch Donnerstag Freitag Samstag")

// When formats a period for readers: March 2024, 3. März 2024.
func (l Language) When(t Period) string {
	months, days := MonthsEnglish, weekdaysEnglish
	if l == German {
		months, days = monthsGerman, weekdaysGerman
	}
	switch t.Unit {
	case "half":
		return fmt.Sprintf(l.Say("H%d %d", "%d. Halbjahr %d"), t.N, t.Year)
	case "quarter":
		return fmt.Sprintf("Q%d %d", t.N, t.Year)
	case "halfOfYear":
		return fmt.Sprintf(l.Say("H%d", "%d. Halbjahr"), t.N)
	case "quarterOfYear":
		return fmt.Sprintf("Q%d", t.N)
	case "month":
		return fmt.Sprintf("%s %d", months[t.N-1], t.Year)
	case "monthOfYear":
		return months[t.N-1]
	case "dayOfYear":
		return fmt.Sprintf(l.Say("%d %s", "%d. %s"), t.Day, months[t.N-1])
	case "weekday":
		return days[t.N]
	case "day":
		return fmt.Sprintf(l.Say("%d %s %d", "%d. %s %d"), t.Day, months[t.N-1], t.Year)
	case "span":
		return fmt.Sprintf("%d–%d", t.Year, t.until)
	}
	return strconv.Itoa(t.Year)
}

// IsoPeriod reads 2024, 2024-03, 2024-Q1, 2024-03-31 and 2024-03-31 13:45:00.
func IsoPeriod(s string) (Period, bool) {
	day, rest, timed := strings.Cut(s, " ")
	if timed && rest != "00:00:00" {
		return Period{}, false
	}
	parts := strings.Split(day, "-")
	y, err := strconv.Atoi(parts[0])
	if err != nil || len(parts[0]) != 4 {
		return Period{}, false
	}
	if len(parts) == 1 {
		return Period{Unit: "year", Year: y}, true
	}
	if q, ok := strings.CutPrefix(parts[1], "Q"); ok && len(parts) == 2 {
		n, err := strconv.Atoi(q)
		return Period{Unit: "quarter", Year: y, N: n}, err == nil && n >= 1 && n <= 4
	}
	m, err := strconv.Atoi(parts[1])
	if err != nil || m < 1 || m > 12 {
		return Period{}, false
	}
	if len(parts) == 2 {
		return Period{Unit: "month", Year: y, N: m}, true
	}
	d, err := strconv.Atoi(parts[2])
	return Period{Unit: "day", Year: y, N: m, Day: d}, err == nil && len(parts) == 3
}

// Number formats a number in a language, rounded to places decimals, or more for a number below 1; it never says about.
func Number(v float64, places int, lang Language) string {
	s := strconv.FormatFloat(math.Abs(v), 'f', Places(v, places), 64)
	whole, part, _ := strings.Cut(s, ".")
	part = strings.TrimRight(part, "0")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if part != "" {
		whole += "." + part
	}
	if lang == German {
		whole = strings.NewReplacer(",", ".", ".", ",").Replace(whole)
	}
	if v < 0 && strings.Trim(whole, "0.,") != "" {
		return "−" + whole
	}
	return whole
}

// Places returns the decimals that Number rounds to: below 1, four to twenty, as many as two significant digits need.
func Places(v float64, places int) int {
	if a := math.Abs(v); a > 0 && a < 1 {
		return max(places, min(20, max(4, 1-int(math.Floor(math.Log10(a))))))
	}
	return places
}

// Upper returns a text with a capital first letter.
func Upper(s string) string {
	if s == "" {
		return s
	}
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}

// Enumerate joins parts of a sentence: a, b and c.
func (l Language) Enumerate(parts []string) string {
	if len(parts) < 2 {
		return strings.Join(parts, "")
	}
	return strings.Join(parts[:len(parts)-1], ", ") + l.Say(" and ", " und ") + parts[len(parts)-1]
}
