package evidence

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"atelier/internal/pattern"
)

const (
	months = `(?:January|February|March|April|June|July|August|September|October|November|December|` +
		`Januar|Februar|März|Mai|Juni|Juli|Oktober|Dezember|Jänner|` +
		`(?i:janvier|février|mars|avril|juin|juillet|août|septembre|octobre|novembre|décembre|` +
		`enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre|` +
		`gennaio|febbraio|aprile|maggio|giugno|luglio|settembre|ottobre|dicembre|` +
		`januari|februari|maart|mei|augustus|janeiro|fevereiro|março|maio|junho|julho|setembro|outubro|dezembro)|` +
		`May|mai|(?:Jan|Feb|Mar|Mrz|Apr|Jun|Jul|Aug|Sep|Sept|Oct|Okt|Nov|Dec|Dez)\b\.?)`
	year4 = `(?:1[5-9]|20)[0-9]{2}`
	day   = `(?:0?[1-9]|[12][0-9]|3[01])`
	files = `(?:csv|tsv|jsonl?|xlsx?|pdf|docx?|md|txt|html?|png|svg|jpe?g|webp|gif|log|db|sqlite|xml|ya?ml|zip|gz|parquet|py|go|js|sql)`
)

var (
	// date matches a date or a time of day.
	date = pattern.LazyLongest(`^(?:` +
		year4 + `-[01][0-9]-[0-3][0-9](?:[T ][0-2][0-9]:[0-5][0-9](?::[0-5][0-9](?:\.[0-9]+)?)?(?:Z|[+-][0-2][0-9]:?[0-5][0-9])?)?\b|` +
		year4 + `[/.][01]?[0-9][/.][0-3]?[0-9]\b|` +
		year4 + `-(?:0[1-9]|1[0-2]|[QWHK][0-9]{1,2})\b|` +
		day + `\.[ \x{a0}]?(?:0?[1-9]|1[0-2])\.[ \x{a0}]?(?:` + year4 + `|[0-9]{2})\b|` +
		day + `[/-]` + day + `[/-](?:` + year4 + `|[0-9]{2})\b|` +
		`(?:[01]?[0-9]|2[0-4])[:h][0-5][0-9](?::[0-5][0-9])?\b|` +
		`(?:[01]?[0-9]|2[0-4])\.[0-5][0-9][ \x{a0}]Uhr\b|` +
		day + `(?:st|nd|rd|th|er|º|\.)?[ \x{a0}-](?:of[ \x{a0}]|de[ \x{a0}]|d['’])?` + months + `(?:,?[ \x{a0}-](?:de[ \x{a0}])?` + year4 + `)?|` +
		year4 + `[ \x{a0}]?[–—/-][ \x{a0}]?(?:` + year4 + `|[0-9]{2})\b)`)
	// dayBefore matches text ending in a word after which 31.12. is a day; before a comma it is one too.
	dayBefore = pattern.Lazy(`(?i)(?:^|[^\p{L}])(?:am|vom|zum|bis|seit|ab|der|dem|den|und)[ \x{a0}]$`)
	shortDay  = pattern.Lazy(`^` + day + `\.[ \x{a0}]?(?:0?[1-9]|1[0-2])\.`)
	dayAfter  = pattern.Lazy(`^[0-9]{1,2}\.[ \x{a0}]?[0-9]{1,2}\.[,;)–-]`)
	// month matches the name of a month. After it, a date continues with monthYear, or with
	// monthDay if no number continues: "March 20" may begin "March 20 % more".
	month     = pattern.Lazy(`^` + months + `$`)
	monthYear = pattern.LazyLongest(`^(?:` + year4 + `|` + day + `(?:st|nd|rd|th)?,[ \x{a0}]` + year4 + `)\b`)
	monthDay  = pattern.Lazy(`^` + day + `(?:st|nd|rd|th)?\b`)

	// address matches a word that names a page, a mailbox or a file.
	address = pattern.Lazy(`(?i)://|\bwww\.|\bdoi:|\bmailto:|[^@]@[^@]+\.|\b10\.[0-9]{4,}/|[\p{L}\p{N}_-]\.` + files + `\b`)

	// orderWord matches a word that makes the next number the number of a figure, page, version and
	// so on; citedBefore and citedAfter match the text around the number of a citation.
	orderWord   = pattern.Lazy(`^(?:(?i:figures?|figs?\.|abbildung(?:en)?|abb\.|bild|tables?|tabellen?|tab\.|tableaux?|charts?|diagramm|graphique|graph|sections?|abschnitt|chapters?|kapitel|chapitre|pages?|seiten?|pp?\.|appendix|anhang|annexe|steps?|schritt|étape|footnotes?|fußnote|no\.|nr\.|art\.|articles?|artikel|lines?|zeilen?|lignes?|quer(?:y|ies)|abfragen?|versions?|release|v\.|phase|parts?|teil|partie|exhibit|slides?|folie|volume|vol\.|band|iso|din|rfc|figura|tabla|gráfico|équation|equation|eq\.|question|frage|week|kw|woche|semaine|quarter|quartal|room|raum)|S\.)$`)
	citedBefore = pattern.Lazy(`\[[0-9 ,–-]*$`)
	citedAfter  = pattern.Lazy(`^[0-9 ,–-]*\]`)
	orderNumber = pattern.Lazy(`^[0-9]{1,5}(?:\.[0-9]{1,3})*$`)
	// listed and outline match the number of a list item or of a heading at the beginning of a text.
	listed  = pattern.Lazy(`^[\s•*–-]*(?:\(?[0-9]{1,3}[.)]|\([0-9]{1,3}\))[\s\x{a0}]`)
	outline = pattern.Lazy(`^\s*[0-9]{1,2}(?:\.[0-9]{1,2}){1,3}\.?[\s\x{a0}]+\p{Lu}`)

	yearIn = pattern.Lazy(year4)

	// yearWord matches a word after which a year is a date; yearLead, one after which it is a date unless a
	// counted noun follows ("in 2000 cases"); yearMaybe, one after which it is a date if no noun follows.
	yearWord  = pattern.Lazy(`(?i)^(?:since|during|years?|fy|circa|early|late|mid|jahre?s?|seit|anfang|ende|mitte|depuis|année|fin|début|año|desde|anno|sommer|winter|herbst|frühling|frühjahr|summer|autumn|spring|fall|quarter|quartal|q[1-4]|h[12])$`)
	yearLead  = pattern.Lazy(`(?i)^(?:in|until|till|before|after|through|im|bis|ab|vor|nach|en|avant|après|an|nel|dal|the|its|their|our|this|last|das|dem|des|der)$`)
	yearMaybe = pattern.Lazy(`(?i)^(?:and|of|from|to|between|for|with|by|than|or|on|und|von|zwischen|für|mit|zum|zu|als|oder|et|de|du|à|entre|pour|y|e|del|vs\.?)$`)
	// counted matches a noun that a preceding number may count: in lower case or German.
	counted = pattern.Lazy(`^[ \x{a0}](?:\p{Ll}{3,}|\p{Lu}\p{Ll}+en)\b`)
	// noCounted matches a word that is not a noun.
	noCounted = pattern.Lazy(`(?i)^[ \x{a0}](?:they|she|you|this|that|these|those|there|some|more|most|about|only|nearly|almost|over|around|not|all|both|each|every|again|after|before|because|while|who|which|then|also|just|still|already|did|does|will|would|could|can|may|might|must|should|than|less|fewer|under|from|into|per|between|during|since|wir|sie|man|nur|noch|fast|etwa|rund|mehr|weniger|aber|nach|vor|bei|von|für|durch|sowie|wie|dann|nicht|kein|keine|hatten|haben|sind|waren|wird|werden|kann|konnte|dem|den|des|ein|eine|einen|über|unter|pour|dans|sur|plus|moins|des|une|par|que|qui|que|los|las|con|por|del|para|una)\b`)
	// yearAfter matches text that does not begin with a noun.
	yearAfter = pattern.Lazy(`(?i)^(?:\s*$|['’]s\b|[ \x{a0}]?[)\].,;:!?–—/-]|[ \x{a0}](?:was|is|were|are|had|has|and|or|to|the|it|its|they|on|in|of|by|for|with|when|as|but|than|until|compared|through|at|a|an|saw|onwards?|alone|budget|data|figures?|report|season|edition|war|ist|sind|und|oder|bis|gab|lag|lagen|hatte|hat|mit|auf|zu|im|in|wurden?|stieg|fiel|die|der|das|als|et|ou|à|le|la|les|est|était|a|avec)\b)`)
)

// nearby is the size of the examined context on each side of a number, in bytes.
const nearby = 40

// before returns the text before an offset, starting at a whole word.
func (s *scanner) before(i int) string {
	from := max(0, i-nearby)
	text := s.plain[from:i]
	if from == 0 {
		return text
	}
	return strings.TrimLeftFunc(text, func(r rune) bool { return unicode.IsLetter(r) || r == utf8.RuneError })
}

func (s *scanner) after(i int) string { return s.plain[i:min(len(s.plain), i+nearby)] }

// skipped returns the end of the date or address that contains the digits at i, or i if there is neither.
func (s *scanner) skipped(i int) int {
	if end := s.addressEnd(i); end > i {
		return end
	}
	before, rest := s.before(i), s.after(i)
	found := date().FindString(rest)
	switch {
	case found != "":
	case shortDay().MatchString(rest) && (dayBefore().MatchString(before) || dayAfter().MatchString(rest)):
		found = shortDay().FindString(rest)
	case endsWithMonth(before):
		if found = monthYear().FindString(rest); found != "" {
			break
		}
		found = monthDay().FindString(rest)
		if after := rest[len(found):]; scaleOrUnit(after) || leadingDigits(strings.TrimLeft(after, ".,'’ ")) > 0 {
			return i
		}
	}
	for _, y := range yearIn().FindAllString(found, -1) {
		if n, err := strconv.Atoi(y); err == nil {
			s.years = append(s.years, n)
		}
	}
	return i + len(found)
}

// endsWithMonth reports whether a text ends with a month and a blank: "March ", "mayo de ".
func endsWithMonth(text string) bool {
	cut := strings.TrimRight(text, blanks)
	if cut == text {
		return false
	}
	return month().MatchString(lastWord(strings.TrimSuffix(strings.TrimRight(strings.TrimSuffix(cut, " de"), blanks), ",")))
}

// maxAddress is the maximum number of bytes of a word that are examined on each side of a number.
const maxAddress = 300

// addressEnd returns the end of the word around i if it is the address of a page, a mailbox or a file, otherwise i.
func (s *scanner) addressEnd(i int) int {
	if i >= s.word.end {
		from, to := max(0, i-maxAddress), min(len(s.plain), i+maxAddress)
		apart := func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("<>\"“”„«»", r) }
		if at := strings.LastIndexFunc(s.plain[from:i], apart); at >= 0 {
			_, size := utf8.DecodeRuneInString(s.plain[from+at:])
			from += at + size
		}
		if at := strings.IndexFunc(s.plain[i:to], apart); at >= 0 {
			to = i + at
		}
		s.word, s.inAddress = span{from, to}, false
		if word := s.plain[from:to]; strings.ContainsAny(word, ".:@") && (strings.ContainsFunc(word, unicode.IsLetter) || strings.HasPrefix(word, "10.")) {
			s.inAddress = address().MatchString(word)
		}
	}
	if s.inAddress {
		return s.word.end
	}
	return i
}

func scaleOrUnit(rest string) bool {
	if m := scaleWord().FindString(rest); m != "" && !startsWord(rest[len(m):]) {
		return true
	}
	return percentMark().MatchString(rest) || unitMark().MatchString(rest)
}

// between matches the text between two numbers that share the scale or percent sign of the second: "2–3 million".
var between = pattern.Lazy(`(?i)^[ \x{a0}]?(?:–|—|-|to|bis|à|and|und|et|or|oder)[ \x{a0}]?$`)

// shareUnits copies the scale or percent sign of a number to the preceding number that is joined to it.
func (s *scanner) shareUnits() {
	for i := len(s.found) - 2; i >= 0; i-- {
		n, next := &s.found[i], s.found[i+1]
		if n.unit || !next.unit || !between().MatchString(s.plain[n.End:next.Start]) {
			continue
		}
		n.Percent = next.Percent
		n.scales = append([]float64{1}, next.scales...)
	}
}

// judge decides what a number is used as.
func (s *scanner) judge(n *Number) {
	switch {
	case n.role != roleValue || n.unit:
	case slices.ContainsFunc(n.readings, func(r reading) bool {
		return r.places == 0 && r.value == math.Trunc(r.value) && r.value <= maxSmall
	}) && len(n.readings) == 1:
		n.role = roleSmall
	case s.isOrder(n):
		n.role = roleOrder
	case n.End-n.Start == 4 && n.readings[0].places == 0 && n.sign == 0:
		if _, ok := asYear(n.readings[0].value); !ok {
			return
		}
		n.role = maybeYear
		before := s.before(n.Start)
		word := lastWord(strings.TrimRight(before, blanks+"('’"))
		open := word == "" || yearMaybe().MatchString(word) || strings.ContainsRune("([–—/,;:.!?-", lastRune(strings.TrimRight(before, blanks)))
		after := s.after(n.End)
		dated := yearAfter().MatchString(after) || noCounted().MatchString(after) || !counted().MatchString(after)
		if yearWord().MatchString(word) || yearLead().MatchString(word) && dated || open && yearAfter().MatchString(after) {
			n.role = roleYear
		}
	}
}

// isOrder reports whether a number identifies a figure, a list item, a citation or a heading.
func (s *scanner) isOrder(n *Number) bool {
	if n.End < s.heading {
		return true
	}
	before := s.before(n.Start)
	return orderNumber().MatchString(s.plain[n.Start:n.End]) &&
		(endsWithOrder(before) || strings.Contains(before, "[") && citedBefore().MatchString(before) && citedAfter().MatchString(s.after(n.End)))
}

// endsWithOrder reports whether a text ends with a word such as Figure, or with such a word and the
// first of two numbers: "Figures 14 and".
func endsWithOrder(text string) bool {
	text = strings.TrimRight(text, blanks)
	for _, joint := range []string{"–", "—", "-", "and", "und", "et"} {
		first := strings.TrimRight(strings.TrimSuffix(text, joint), blanks)
		short := strings.TrimRight(first, "0123456789")
		if digits := len(first) - len(short); strings.HasSuffix(text, joint) && digits > 0 && digits < 4 {
			text = strings.TrimRight(short, blanks)
			break
		}
	}
	return strings.ContainsRune("°№§", lastRune(text)) && text != "" || orderWord().MatchString(lastWord(text))
}

// blanks separate words.
const blanks = " \u00a0\u202f"

// lastWord returns the last word of a text, with its full stop; "" if it does not end with a word.
func lastWord(text string) string {
	at := strings.LastIndexFunc(text, func(r rune) bool { return !isWord(r) && r != '.' })
	if at < 0 {
		return text
	}
	_, size := utf8.DecodeRuneInString(text[at:])
	return text[at+size:]
}

// sentenceEnd matches the ends of sentences.
var sentenceEnd = pattern.Lazy(`[.!?…]["'”“’»)\]]*[\s\x{a0}]+|[。！？]|\n`)

// abbreviation matches text that ends in a word whose full stop does not end a sentence.
var abbreviation = pattern.Lazy(`(?i)(?:^|[^\p{L}])(?:ca|approx|etc|bzw|vs|nr|mio|mrd|tsd|z\.\s?b|d\.\s?h|e\.g|i\.e|abb|fig|vgl|cf|env)\.$`)

// Sentences returns the ends of the sentences of a text, in bytes; the last one is its length.
func Sentences(text string) (ends []int) {
	for _, m := range sentenceEnd().FindAllStringIndex(text, -1) {
		next, _ := utf8.DecodeRuneInString(text[m[1]:])
		mark := text[m[0]]
		if mark == '.' && (unicode.IsLower(next) || abbreviation().MatchString(text[max(0, m[0]-12):m[0]+1])) {
			continue
		}
		ends = append(ends, m[1])
	}
	if len(ends) == 0 || ends[len(ends)-1] < len(text) {
		ends = append(ends, len(text))
	}
	return ends
}
