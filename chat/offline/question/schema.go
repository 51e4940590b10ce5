package question

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// field is a column, or a product of two, as questions name it.
type field struct {
	Column
	table int // index in view.tables
	words []word
	rows  int64 // of its table
	first bool  // the first column
	// factors are the two fields of a derived measure: quantity and price.
	factors []*field
	// less says that the second of the factors is taken off the first.
	less bool
	// names are the two fields of a full name.
	names []*field
	// free says that the values are the texts of a log: sentences, not names.
	free bool
}

// word is one word of a name; optional ones need not be said: id, date, units.
type word struct {
	fold, stem string
	optional   bool
}

// view is a table with the tables that its keys lead to.
type view struct {
	tables []*Table
	// on is the condition under which tables[i] joins, and the table that it hangs on.
	on     []joint
	fields []*field
	// entity are the words for one row; topics the other words of the table's name.
	entity, topics []string
	// coins is the only amount of money, coinWords what it may be called.
	coins     *field
	coinWords []string
	// survey says that the rows are the answers of people who were asked.
	survey bool
	// names are the words of the table's name as they are written.
	names []string
	// takings says that the table has an amount of what is sold.
	takings bool
	// wide are the columns of one kind: one for each party.
	wide []*field
}

type joint struct {
	from     int
	ownKey   string
	otherKey string
}

var (
	camel    = regexp.MustCompile(`(\p{Ll})(\p{Lu})`)
	brackets = regexp.MustCompile(`[(\[][^)\]]*[)\]]`)
	nonWord  = regexp.MustCompile(`[^\p{L}\p{M}\p{N}%]+`)

	idWords   = folded("id ids nr no num number nummer nummern code key uid ref reference kennung schlussel sku isbn index")
	nameWords = folded("name names nam bezeichnung titl title titel nom label vollstandig voll full designation libelle intitule")
	timeWords = folded("date datum dat time zeit at on timestamp day tag zeitpunkt period zeitraum")
	unitWords = folded(`eur euro usd chf gbp mm cm m km kg g t l ml kwh mwh gwh twh wh kw mw celsius fahrenheit c f pct percent prozent % qm m2 sqm sqft min mins sec ms
ppm mbar hpa bar mph kmh s h pcs stk km2 sqkm in per pro of the der die das je von en par de`)
	prepositions = folded("on per pro of je von par in zu zur zum to for bis till until auf an der des")
)

// short are abbreviations in names of columns.
func short(w string) []string {
	words, ok := map[string]string{
		"tmax": "max temperature", "tmin": "min temperature", "tavg": "mean temperature", "tmean": "mean temperature", "prcp": "rain", "amt": "amount", "desc": "description",
		"emp": "employee", "cust": "customer", "prod": "product", "inv": "invoice", "dob": "birth date", "pop": "population", "cnt": "count", "mgr": "manager", "lbl": "label", "vk": "sales", "ek": "purchase",
	}[w]
	if !ok {
		return []string{w}
	}
	return strings.Fields(words)
}

// splitName splits a name into its folded words, in lower case: net_generation, netGeneration.
func splitName(name string) []string {
	if len(name) > 2 { // pH is one word
		name = camel.ReplaceAllString(name, "$1 $2")
	}
	var out []string
	for _, w := range nonWord.Split(name, -1) {
		if w != "" {
			out = append(out, fold(w))
		}
	}
	return out
}

// heads are words that end German compounds of any kind, folded.
var heads = strings.Fields("stunden minuten jahr datum preis betrag kosten nummer name menge gehalt dauer monat anzahl umsatz bestand verbrauch temperatur gruppe einnahmen ausgaben")

// vocabulary is every word that a compound can be made of.
type vocabulary map[string]bool

func (s *Source) vocabulary(l *lexicon) vocabulary {
	v := vocabulary{}
	for w := range l.concepts {
		if len(w) > 2 {
			v[w] = true
		}
	}
	for _, w := range []string{"gesamt", "durchschnitt", "hochst", "tiefst", "nummer", "nr", "id", "code", "zahl", "datum", "dat", "name", "nam", "netto", "brutto", "verkauf", "einkauf", "lager", "einzel", "stuck", "jahr", "monat", "tag"} {
		v[stem(w)] = true
	}
	for _, t := range s.Tables {
		for _, w := range splitName(t.Name) {
			v.add(w)
		}
		for _, c := range t.Columns {
			for _, w := range splitName(brackets.ReplaceAllString(c.Name, " ")) {
				v.add(w)
			}
		}
	}
	return v
}

func (v vocabulary) add(w string) {
	if len(w) > 3 && len(w) < 12 {
		v[stem(w)] = true
	}
}

// longestCompound is the longest word that is taken apart, in bytes: what is longer is no word of a question.
const longestCompound = 64

// split takes a compound apart: kundennummer → kunden, nummer. A word that is known stays whole.
func (v vocabulary) split(l *lexicon, w string) []string {
	if len(w) > longestCompound {
		return []string{w}
	}
	return v.splitOnce(l, w, map[string][]string{})
}

// splitOnce is split that takes each end of a word apart once.
func (v vocabulary) splitOnce(l *lexicon, w string, done map[string][]string) []string {
	if parts, ok := done[w]; ok {
		return parts
	}
	parts := v.splitWord(l, w, func(end string) []string { return v.splitOnce(l, end, done) })
	done[w] = parts
	return parts
}

func (v vocabulary) splitWord(l *lexicon, w string, split func(string) []string) []string {
	if len(w) < 7 || strings.HasPrefix(w, "halbjahr") || l.concepts[stem(w)] != nil || l.fill[w] || l.phrases[w] != nil || monthNames[w] > 0 {
		return []string{w}
	}
	for i := len(w) - 2; i >= 3; i-- {
		left, right := w[:i], w[i:]
		if strings.TrimSuffix(right, "s") == "ship" {
			continue // membership
		}
		if len(right) == 2 && !idWords[right] {
			continue
		}
		if !v[stem(right)] && len(split(right)) < 2 {
			continue
		}
		for _, link := range []string{"s", "", "n", "en", "es"} {
			if base, ok := strings.CutSuffix(left, link); ok && len(base) > 2 && (v[stem(base)] || v[base]) {
				return append([]string{base}, split(right)...)
			}
		}
	}
	for _, head := range heads {
		if left, ok := strings.CutSuffix(w, head); ok && len(left) > 3 {
			return []string{left, head} // Sonnenstunden: of whatever it is, hours
		}
	}
	return []string{w}
}

// dimensions are what the unit in a column's name measures.
var dimensions = map[string][]string{
	"mm": {"length", "lange"}, "cm": {"length", "lange"},
}

// nameWordsOf are the words of a column's name with what need not be said.
func (s *Source) nameWordsOf(c Column, l *lexicon, v vocabulary) []word {
	var out []word
	inBrackets := map[string]bool{}
	for _, b := range brackets.FindAllString(c.Name, -1) {
		for _, w := range splitName(b) {
			inBrackets[w] = true
		}
	}
	units := splitName(c.Unit)
	for _, one := range splitName(fullTime(c.Name)) {
		parts := short(one)
		if len(parts) == 1 {
			parts = v.split(l, one)
		}
		for _, w := range parts {
			st := stem(w)
			abbreviated := len(parts) > 1 && parts[0] != one && (w == "min" || w == "max") // tmin: no minutes
			out = append(out, word{fold: w, stem: st, optional: !abbreviated && (idWords[w] || nameWords[st] || timeWords[st] || unitWords[w] || inBrackets[one] || slices.Contains(units, w))})
		}
	}
	out = outer(c.Name, out)
	for i := len(out) - 1; i > 0; i-- { // wing_mm is also the wing length
		for _, w := range dimensions[out[i].fold] {
			out = append(out, word{fold: w, stem: stem(w), optional: true})
		}
	}
	if !slices.ContainsFunc(out, func(w word) bool { return !w.optional && !lightParticles[w.fold] }) {
		for i := range out {
			out[i].optional = unitWords[out[i].fold] && len(out) > 1 && i > 0
		}
	}
	return out
}

// per says whether the name says per what, and that matters: GDP per capita.
func (f *field) per(l *lexicon) bool {
	return slices.ContainsFunc(f.words, func(w word) bool { return w.fold == "per" || w.fold == "pro" || w.fold == "je" }) && !l.means(f.head(), "price")
}

// head is the word that says what the column is: generation of net generation.
func (f *field) head() string {
	h := ""
	for _, w := range f.words {
		if prepositions[w.fold] && h != "" {
			return h
		}
		if !w.optional {
			h = w.stem
		}
	}
	return h
}

func (f *field) numeric() bool {
	return f.factors != nil || f.Type == "integer" || f.Type == "number"
}

// monthly is a column of months, each stored as its first day.
func (f *field) monthly() bool {
	low, _ := f.Min.(string)
	high, _ := f.Max.(string)
	first, ok := isoPeriod(low)
	last, ok2 := isoPeriod(high)
	return f.dated() && ok && ok2 && first.day == 1 && last.day == 1 && !f.DistinctCapped && f.Distinct > 1 &&
		2*f.Distinct >= int64((last.year-first.year)*12+last.n-first.n+1)
}

func (f *field) boolean() bool { return f.Type == "boolean" }
func (f *field) dated() bool   { return f.Type == "date" || f.Type == "datetime" }

// text is a column of words; a boolean written as text is one too.
func (f *field) text() bool { return f.Type == "text" }

// named says whether a word of the name has a concept.
func (f *field) named(l *lexicon, concept string) bool {
	return slices.ContainsFunc(f.words, func(w word) bool { return l.means(w.stem, concept) })
}

// yearly is a column of whole years.
func (f *field) yearly(l *lexicon) bool {
	if f.Type != "integer" || !f.named(l, "year") {
		return false
	}
	low, okLow := number(f.Min)
	high, okHigh := number(f.Max)
	return okLow && okHigh && low >= 1000 && high <= 2300
}

// key is a column of identifiers: its numbers are names.
func (f *field) key(l *lexicon) bool {
	if f.factors != nil || f.dated() || f.boolean() {
		return false
	}
	if f.counter(l) {
		return true
	}
	last := ""
	for _, w := range f.words {
		if !unitWords[w.fold] {
			last = w.fold
		}
	}
	switch last {
	case "number", "no", "num", "nr", "nummer", "index", "code", "reference", "ref":
		return f.Type == "text" || f.Type == "integer"
	}
	return idWords[last] || strings.HasPrefix(f.words[0].fold, "postleit") || l.means(stem(last), "phone") || strings.HasPrefix(last, "zip") || strings.HasPrefix(last, "plz") || strings.HasPrefix(last, "postal") || strings.HasPrefix(last, "postleit")
}

// counter is a column that numbers the rows: 1, 2, 3 … under a name like Respondent.
func (f *field) counter(l *lexicon) bool {
	low, _ := number(f.Min)
	high, _ := number(f.Max)
	if f.Type != "integer" || f.rows < 3 || !f.first && low < 100 || !f.unique(f.rows) || f.yearly(l) {
		return false
	}
	for _, c := range []string{"year", "month", "week", "date", "hours"} {
		if f.named(l, c) {
			return false
		}
	}
	return int64(high-low)+1 == f.rows && (f.rows >= 12 || low == 0 || low == 1 || low == 1000 || low == 1001)
}

// measure is a number that can be compared or added.
func (f *field) measure(l *lexicon) bool { return f.numeric() && !f.key(l) && !f.yearly(l) }

// unique says whether every row has a value of its own.
func (f *field) unique(rows int64) bool {
	if f.factors != nil || f.names != nil || f.Missing+f.Unusable > 0 || rows == 0 {
		return false
	}
	return !f.DistinctCapped && f.Distinct == rows || f.rows == rows && f.serial()
}

// spans says whether a number lies between the least and the greatest value.
func (f *field) spans(v float64) bool {
	low, ok := number(f.Min)
	high, ok2 := number(f.Max)
	return ok && ok2 && low <= v && v <= high
}

// label is how an answer names the column.
func (f *field) label() string {
	if base, _, ok := trailing(f.Name); ok && f.numeric() {
		return strings.TrimSpace(strings.ReplaceAll(base, "_", " "))
	}
	name := strings.TrimSpace(camel.ReplaceAllString(brackets.ReplaceAllString(f.Name, ""), "$1 $2"))
	if strings.TrimSpace(name) == "" {
		name = f.Name
	}
	return strings.TrimSpace(strings.ReplaceAll(name, "_", " "))
}

// unit is the unit of the values, from the description or the name's brackets.
func (f *field) unit() string {
	switch {
	case f.Unit == "count":
		return ""
	case f.Unit != "":
		return f.Unit
	}
	if b := brackets.FindString(f.Name); len(b) > 2 && len(b) < 10 && f.numeric() && !strings.ContainsAny(b, "0123456789") {
		return strings.Trim(b, "()[] ")
	}
	if _, unit, ok := trailing(f.Name); ok && f.numeric() {
		return unit
	}
	return ""
}

// trailing takes the unit off a name: rain_mm.
func trailing(name string) (base, unit string, ok bool) {
	i := strings.LastIndexByte(name, '_')
	if i < 1 {
		return "", "", false
	}
	unit, ok = map[string]string{
		"mm": "mm", "cm": "cm", "m": "m", "km": "km", "kg": "kg", "g": "g", "t": "t", "l": "l", "ml": "ml", "kwh": "kWh", "mwh": "MWh", "gwh": "GWh", "kw": "kW", "mw": "MW",
		"eur": "EUR", "usd": "USD", "chf": "CHF", "gbp": "GBP", "pct": "%", "percent": "%", "ppm": "ppm", "min": "min", "hpa": "hPa", "c": "°C", "f": "°F", "kmh": "km/h", "ms": "ms", "s": "s", "sec": "s", "h": "h",
	}[strings.ToLower(name[i+1:])]
	return name[:i], unit, ok
}

// number reads a JSON value as a number.
func number(v any) (float64, bool) {
	switch t := v.(type) {
	case float64:
		return t, true
	case int64:
		return float64(t), true
	case int:
		return float64(t), true
	case string:
		return parseNumber(strings.TrimPrefix(t, "-"), English)
	}
	return 0, false
}

// views are the tables as questions can ask them.
func (s *Source) views(l *lexicon) []*view {
	s.Tables = unite(s.Tables)
	vocab := s.vocabulary(l)
	var out []*view
	for i := range s.Tables {
		if len(s.Tables[i].Columns) == 0 || s.Tables[i].RowCount == 0 {
			continue
		}
		v := &view{}
		s.attach(v, i, joint{from: -1}, l, vocab)
		v.derive(l)
		v.sales(l)
		v.fullNames()
		v.name(l, vocab)
		v.logged()
		v.money(l)
		v.takings = slices.ContainsFunc(v.fields, func(f *field) bool { return f.measure(l) && f.named(l, "revenue") })
		v.wide = v.columnsOf(l)
		v.survey = slices.ContainsFunc(append(slices.Clone(v.entity), v.topics...), func(w string) bool { return l.means(w, "respondent") || w == stem("feedback") })
		out = append(out, v)
	}
	return out
}

// attach adds a table and, where its keys lead to other tables, those.
func (s *Source) attach(v *view, at int, j joint, l *lexicon, vocab vocabulary) {
	t := &s.Tables[at]
	n := len(v.tables)
	v.tables, v.on = append(v.tables, t), append(v.on, j)
	from := len(v.fields)
	for i, c := range t.Columns {
		if sizes(c) {
			continue
		}
		v.fields = append(v.fields, &field{Column: c, table: n, rows: t.RowCount, first: i == 0, words: s.nameWordsOf(c, l, vocab)})
	}
	own := v.fields[from:]
	qualify(own)
	distinguish(own, l)
	for k := range s.Tables {
		o := &s.Tables[k]
		if k == at || slices.Contains(v.tables, o) || alike(t, o) || longForm(t, o) || longForm(o, t) || len(v.tables) > 4 {
			continue
		}
		for _, a := range own {
			if b, ok := s.keyFor(a, t, o, l, vocab); ok {
				s.attach(v, k, joint{from: n, ownKey: a.Name, otherKey: b}, l, vocab)
				break
			}
		}
	}
}

// keyFor finds the unique column of another table that a column refers to by name:
// customer_id → customers.customer_id, or customers.id.
func (s *Source) keyFor(a *field, t, o *Table, l *lexicon, vocab vocabulary) (string, bool) {
	if a.dated() || a.boolean() || a.Type == "number" || a.yearly(l) || !(a.key(l) || a.text()) {
		return "", false
	}
	for _, c := range o.Columns {
		b := field{Column: c, words: s.nameWordsOf(c, l, vocab)}
		if !b.unique(o.RowCount) || (c.Type == "text") != (a.Type == "text") {
			continue
		}
		named := strings.EqualFold(strings.Join(splitName(c.Name), "_"), strings.Join(splitName(a.Name), "_"))
		if len(b.words) == 1 && idWords[b.words[0].fold] && len(a.words) > 1 && a.key(l) {
			named = !strings.EqualFold(t.Name, o.Name) && slices.ContainsFunc(splitName(o.Name), func(w string) bool { return stem(w) == a.words[0].stem })
		} else if len(b.words) == 1 && idWords[b.words[0].fold] {
			named = false // id = id says nothing
		}
		if named && !l.means(b.head(), "comment") {
			return c.Name, true
		}
	}
	return "", false
}

// alike says whether two tables have the same columns: parts of one.
func alike(a, b *Table) bool {
	return slices.EqualFunc(a.Columns, b.Columns, func(x, y Column) bool { return strings.EqualFold(x.Name, y.Name) })
}

var sizeShape = regexp.MustCompile(`^\[\d+ values\]$`)

// sizes says whether a column only says how long the lists of a file are.
func sizes(c Column) bool {
	return len(c.Values) > 0 && !slices.ContainsFunc(c.Values, func(v any) bool {
		s, _ := v.(string)
		return !sizeShape.MatchString(s)
	})
}

// longForm says whether a table is another one with its columns of times as rows.
func longForm(long, wide *Table) bool {
	return long.Name == wide.Name+"_long" && long.Path == wide.Path
}

// fullNames joins the columns of first and last names.
func (v *view) fullNames() {
	var first, last *field
	for _, f := range v.fields {
		if f.table != 0 || !f.text() {
			continue
		}
		switch strings.Join(splitName(f.Name), "") {
		case "firstname", "vorname", "givenname", "prenom":
			first = f
		case "lastname", "nachname", "surname", "familyname", "nom":
			last = f
		}
	}
	if first == nil || last == nil {
		return
	}
	v.fields = append(v.fields, &field{
		Column: Column{Name: "name", Type: "text", DistinctCapped: true}, names: []*field{first, last},
		words: []word{{fold: "name", stem: stem("name")}},
	})
}

// containers end the names of files that hold what their first half says.
var containers = strings.Fields("liste buch tabelle datei protokoll export ubersicht verzeichnis statistik log list table register")

// rowConcepts are the concepts of what rows of a list are.
var rowConcepts = strings.Fields("member employee student customer product order ticket invoice supplier donor book loan vehicle trip property match player visitor donation")

// name finds the words for one row: those of the file's name, and of the key column.
func (v *view) name(l *lexicon, vocab vocabulary) {
	t := v.tables[0]
	base := strings.TrimSuffix(path.Base(t.Path), path.Ext(t.Path))
	seen := map[string]bool{}
	names := []string{t.Name, base, t.Sheet}
	if t.Sheet != "" && strings.HasPrefix(strings.ToLower(path.Ext(t.Path)), ".json") {
		names = names[2:] // an array inside the records
	}
	for _, n := range t.Notes {
		if rows, ok := strings.CutPrefix(n, "the rows are the array "); ok {
			rows, _, _ = strings.Cut(rows, " ")
			names = append(names, rows[strings.LastIndex(rows, ".")+1:])
		}
	}
	for _, name := range names {
		for _, w := range splitName(name) {
			for _, part := range vocab.split(l, w) {
				v.names = append(v.names, part)
				if st := stem(part); !seen[st] && len(st) > 1 {
					seen[st] = true
					v.topics = append(v.topics, st)
					if l.concepts[st] != nil || !strings.ContainsFunc(st, unicode.IsDigit) {
						v.entity = append(v.entity, st)
					}
				}
			}
		}
	}
	for _, w := range slices.Clone(v.names) {
		for _, end := range containers {
			base, ok := strings.CutSuffix(w, end)
			st := stem(strings.TrimSuffix(base, "s"))
			if !ok || len(base) < 4 || seen[st] {
				continue
			}
			seen[st] = true
			v.names, v.topics = append(v.names, base), append(v.topics, st)
			for _, c := range rowConcepts {
				if l.means(st, c) || l.means(stem(base), c) {
					v.entity = append(v.entity, st) // a Mitgliederliste lists members
					break
				}
			}
		}
	}
	for _, w := range splitName(t.Title) {
		if st := stem(w); !seen[st] && len(st) > 3 && !l.fill[w] && l.phrases[w] == nil && !strings.ContainsFunc(st, unicode.IsDigit) {
			seen[st] = true
			v.topics = append(v.topics, st)
		}
	}
	for i, f := range v.fields {
		if f.table != 0 || !(f.key(l) && (i == 0 || f.unique(t.RowCount))) || len(f.words) < 2 {
			continue
		}
		if st := f.words[0].stem; !seen[st] && !idWords[f.words[0].fold] {
			seen[st] = true
			v.entity = append(v.entity, st)
		}
	}
}
