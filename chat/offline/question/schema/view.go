package schema

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"atelier/chat/offline/question/speech"
	"atelier/internal/pattern"
)

// lexicon returns the lexicon of all languages.
var lexicon = speech.DefaultLexicon

// Field is a column, or one computed from two columns, as questions name it.
type Field struct {
	Column
	Table int // index in View.Tables
	Words []speech.Word
	Rows  int64 // row count of its table
	First bool  // whether it is the first column
	// Factors are the two fields of a derived measure: quantity and price.
	Factors []*Field
	// Difference means that the second factor is subtracted from the first.
	Difference bool
	// Names are the two fields of a full name.
	Names []*Field
	// Free means that the values are the texts of a log: sentences, not names.
	Free bool
}

// View is a table with the tables that its keys refer to.
type View struct {
	Tables []*Table
	// On holds, for each of Tables, its join condition and the table that it joins to.
	On     []joint
	Fields []*Field
	// Entity are the words for one row; Topics are the words of the table's name and title.
	Entity, Topics []string
	// MoneyField is the only amount of money; MoneyWords are the words that may name it.
	MoneyField *Field
	MoneyWords []string
	// Survey means that the rows are the answers of people who were asked.
	Survey bool
	// Names are the words of the table's name, folded but not stemmed.
	Names []string
	// HasRevenue means that the table has an amount of revenue.
	HasRevenue bool
	// Wide are the columns of one kind: one for each party.
	Wide []*Field
}

type joint struct {
	From     int
	OwnKey   string
	OtherKey string
}

// Camel matches a word boundary inside a name: netGeneration.
var Camel = pattern.Lazy(`(\p{L}\p{Ll})(\p{Lu})`)

// Brackets matches the brackets of a name, which hold a unit.
var Brackets = pattern.Lazy(`[(\[][^)\]]*[)\]]`)

var nonWord = pattern.Lazy(`[^\p{L}\p{M}\p{N}%]+`)

// NameWords are words of columns whose values are names.
var NameWords = speech.Folded("name names nam bezeichnung titl title titel nom label vollstandig voll full designation libelle intitule")

// TimeWords are words of columns whose values are times.
var TimeWords = speech.Folded("date datum dat time zeit at on timestamp day tag zeitpunkt period zeitraum")

// UnitWords are words of a name that only state its unit.
var UnitWords = speech.Folded(`eur euro usd chf gbp mm cm m km kg g t l ml kwh mwh gwh twh wh kw mw celsius fahrenheit c f pct percent prozent % qm m2 sqm sqft min mins sec ms
ppm mbar hpa bar mph kmh s h pcs stk km2 sqkm in per pro of the der die das je von en par de`)

// Prepositions separate what a column is from what it is about.
var Prepositions = speech.Folded("on per pro of je von par in zu zur zum to for bis till until auf an der des")

// short expands an abbreviation in the name of a column.
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

// SplitName splits a name into its words, folded to lower case: net_generation, netGeneration.
func SplitName(name string) []string {
	if len(name) > 2 { // pH is one word
		name = Camel().ReplaceAllString(name, "$1 $2")
	}
	var out []string
	for _, w := range nonWord().Split(name, -1) {
		if w != "" {
			out = append(out, speech.Fold(w))
		}
	}
	return out
}

// vocabulary returns the words in the names of the tables and their columns, together with those of the lexicon.
func (s *Source) vocabulary() speech.Vocabulary {
	v := speech.NewVocabulary()
	for _, t := range s.Tables {
		for _, w := range SplitName(t.Name) {
			v.Add(w)
		}
		for _, c := range t.Columns {
			for _, w := range SplitName(Brackets().ReplaceAllString(c.Name, " ")) {
				v.Add(w)
			}
		}
	}
	return v
}

// dimensions are words for what the unit in a column's name measures.
var dimensions = map[string][]string{
	"mm": {"length", "lange"}, "cm": {"length", "lange"},
}

// nameWordsOf returns the words of a column's name, and marks those that need not be said as optional.
func (s *Source) nameWordsOf(c Column, v speech.Vocabulary) []speech.Word {
	var out []speech.Word
	inBrackets := map[string]bool{}
	for _, b := range Brackets().FindAllString(c.Name, -1) {
		for _, w := range SplitName(b) {
			inBrackets[w] = true
		}
	}
	units := SplitName(c.Unit)
	for _, one := range SplitName(speech.FullTime(c.Name)) {
		parts := short(one)
		if len(parts) == 1 {
			parts = v.Split(one)
		}
		for _, w := range parts {
			st := speech.Stem(w)
			least := w == "min" && !inBrackets[one] && c.Unit != "" && c.Unit != "min"              // the minimum: the unit is another one
			abbreviated := least || len(parts) > 1 && parts[0] != one && (w == "min" || w == "max") // tmin: not minutes
			out = append(out, speech.Word{Fold: w, Stem: st, Optional: !abbreviated && (w == "am" || speech.IDWords[w] || NameWords[st] || TimeWords[st] || UnitWords[w] || inBrackets[one] || slices.Contains(units, w))})
		}
	}
	// The words of an enclosing JSON object need not be said if the field itself says something: stats.downloads.
	if at := strings.LastIndex(c.Name, "."); at > 0 && !strings.ContainsAny(c.Name, " (") {
		n := len(out) - len(SplitName(c.Name[at+1:]))
		if n > 0 && slices.ContainsFunc(out[n:], func(w speech.Word) bool { return !w.Optional && !qualifiers[w.Fold] }) {
			for i := range out[:n] {
				out[i].Optional = true
			}
		}
	}
	for i := len(out) - 1; i > 0; i-- { // wing_mm is also the wing length
		for _, w := range dimensions[out[i].Fold] {
			out = append(out, speech.Word{Fold: w, Stem: speech.Stem(w), Optional: true})
		}
	}
	if !slices.ContainsFunc(out, func(w speech.Word) bool { return !w.Optional && !speech.LightParticles[w.Fold] }) {
		for i := range out {
			out[i].Optional = UnitWords[out[i].Fold] && len(out) > 1 && i > 0
		}
	}
	return out
}

// Per reports whether the name has a "per" that matters: GDP per capita.
func (f *Field) Per() bool {
	return slices.ContainsFunc(f.Words, func(w speech.Word) bool { return w.Fold == "per" || w.Fold == "pro" || w.Fold == "je" }) && !lexicon().Means(f.Head(), "price")
}

// Head returns the word that says what the column is: generation for net generation.
func (f *Field) Head() string {
	h := ""
	for _, w := range f.Words {
		if Prepositions[w.Fold] && h != "" {
			return h
		}
		if !w.Optional {
			h = w.Stem
		}
	}
	return h
}

// HeadWord returns the head, unstemmed.
func (f *Field) HeadWord() string {
	at := slices.IndexFunc(f.Words, func(w speech.Word) bool { return !w.Optional && w.Stem == f.Head() })
	if at < 0 {
		return ""
	}
	return f.Words[at].Fold
}

// OfUnit reports whether the head of the name only says what the values count: pieces sold, minutes of waiting.
func (f *Field) OfUnit() bool {
	w := f.HeadWord()
	return Moved[w] || UnitNames[w] != "" && len(w) > 2 && f.Numeric()
}

// Numeric reports whether the values are numbers, including computed ones.
func (f *Field) Numeric() bool { return f.Factors != nil || f.Type == "integer" || f.Type == "number" }

// Monthly reports whether the column holds months, each stored as its first day.
func (f *Field) Monthly() bool {
	low, _ := f.Min.(string)
	high, _ := f.Max.(string)
	first, ok := speech.IsoPeriod(low)
	last, ok2 := speech.IsoPeriod(high)
	return f.Dated() && ok && ok2 && first.Day == 1 && last.Day == 1 && f.Distinct != 1 &&
		(f.Named("month") || !f.DistinctCapped && 2*f.Distinct >= int64((last.Year-first.Year)*12+last.N-first.N+1))
}

// PerMonth reports whether the name says that the values are monthly: a month's salary.
func (f *Field) PerMonth() bool {
	return slices.ContainsFunc(f.Words, func(w speech.Word) bool {
		return strings.HasPrefix(w.Fold, "month") || strings.HasPrefix(w.Fold, "monat")
	})
}

// Boolean reports whether the values are booleans.
func (f *Field) Boolean() bool { return f.Type == "boolean" }

// Dated reports whether the values are dates, with or without a time of day.
func (f *Field) Dated() bool { return f.Type == "date" || f.Type == "datetime" }

// Text reports whether the column holds text; booleans stored as text count.
func (f *Field) Text() bool { return f.Type == "text" }

// Has reports whether the name contains one of some words.
func (f *Field) Has(words map[string]bool) bool {
	return slices.ContainsFunc(f.Words, func(w speech.Word) bool { return words[w.Fold] })
}

// Named reports whether a word of the name belongs to a concept.
func (f *Field) Named(concept string) bool {
	return slices.ContainsFunc(f.Words, func(w speech.Word) bool { return lexicon().Means(w.Stem, concept) })
}

// Yearly reports whether the column holds whole years.
func (f *Field) Yearly() bool {
	low, okLow := NumberOf(f.Min)
	high, okHigh := NumberOf(f.Max)
	return f.Type == "integer" && okLow && okHigh && (f.Named("year") && low >= 1000 && high <= 2300 || f.Has(onceInAYear) && low >= 1500 && high <= 2100)
}

// onceInAYear are words of columns that say when something happened once: joined 2019.
var onceInAYear = speech.Folded("joined founded built born established published released introduced gegründet gebaut geboren eingetreten eintritt beitritt erschienen")

// Key reports whether the column holds identifiers: its numbers are names.
func (f *Field) Key() bool {
	if f.Factors != nil || f.Dated() || f.Boolean() {
		return false
	}
	if f.counter() {
		return true
	}
	last := ""
	for _, w := range f.Words {
		if !UnitWords[w.Fold] {
			last = w.Fold
		}
	}
	switch last {
	case "number", "no", "num", "nr", "nummer", "index", "code", "reference", "ref":
		return f.Type == "text" || f.Type == "integer"
	}
	return speech.IDWords[last] || strings.HasPrefix(f.Words[0].Fold, "postleit") || lexicon().Means(speech.Stem(last), "phone") || strings.HasPrefix(last, "zip") || strings.HasPrefix(last, "plz") || strings.HasPrefix(last, "postal") || strings.HasPrefix(last, "postleit")
}

// counter reports whether the column numbers the rows: 1, 2, 3 … under a name like Respondent.
func (f *Field) counter() bool {
	low, _ := NumberOf(f.Min)
	high, _ := NumberOf(f.Max)
	if f.Type != "integer" || f.Rows < 3 || !f.First && low < 100 || !f.Unique(f.Rows) || f.Yearly() {
		return false
	}
	for _, c := range []string{"year", "month", "week", "date", "hours"} {
		if f.Named(c) {
			return false
		}
	}
	return int64(high-low)+1 == f.Rows && (f.Rows >= 12 || low == 0 || low == 1 || low == 1000 || low == 1001)
}

// Measure reports whether the column is a number that can be compared or added.
func (f *Field) Measure() bool { return f.Numeric() && !f.Key() && !f.Yearly() }

// Unique reports whether every row has a distinct value.
func (f *Field) Unique(rows int64) bool {
	if f.Factors != nil || f.Names != nil || f.Missing+f.Unusable > 0 || rows == 0 {
		return false
	}
	if !f.DistinctCapped {
		return f.Distinct == rows
	}
	// Consecutive numbers, too many for their count to be known.
	low, ok := NumberOf(f.Min)
	high, ok2 := NumberOf(f.Max)
	return f.Rows == rows && f.Type == "integer" && ok && ok2 && int64(high-low)+1 == rows
}

// Unique reports whether every row of the table itself has a distinct value of a field.
func (v *View) Unique(f *Field) bool { return f.Unique(v.Tables[0].RowCount) }

// Spans reports whether a number lies between the smallest and the largest value.
func (f *Field) Spans(v float64) bool {
	low, ok := NumberOf(f.Min)
	high, ok2 := NumberOf(f.Max)
	return ok && ok2 && low <= v && v <= high
}

// Label returns the column's name in answers.
func (f *Field) Label() string {
	name, _, ok := trailing(f.Name)
	if !ok || !f.Numeric() {
		name = Camel().ReplaceAllString(Brackets().ReplaceAllString(f.Name, ""), "$1 $2")
	}
	if strings.TrimSpace(name) == "" {
		name = f.Name
	}
	return strings.TrimSpace(strings.ReplaceAll(name, "_", " "))
}

// UnitSymbol returns the unit of the values, from the description, the brackets of the name or its ending.
func (f *Field) UnitSymbol() string {
	switch {
	case f.Unit == "count":
		return ""
	case f.Unit != "":
		return f.Unit
	}
	if b := Brackets().FindString(f.Name); len(b) > 2 && len(b) < 10 && f.Numeric() && !strings.ContainsAny(b, "0123456789") {
		return strings.Trim(b, "()[] ")
	}
	if _, unit, ok := trailing(f.Name); ok && f.Numeric() {
		return unit
	}
	return ""
}

// trailing splits the unit off the end of a name: rain_mm.
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

// NumberOf returns a JSON value as a number.
func NumberOf(v any) (float64, bool) {
	switch t := v.(type) {
	case float64:
		return t, true
	case int64:
		return float64(t), true
	case int:
		return float64(t), true
	case string:
		n, ok := speech.ParseNumber(strings.TrimPrefix(t, "-"), speech.English)
		if strings.HasPrefix(t, "-") {
			n = -n
		}
		return n, ok
	}
	return 0, false
}

// Views returns the tables as questions can ask about them, and the vocabulary of their names.
func (s *Source) Views() ([]*View, speech.Vocabulary) {
	s.Tables = unite(s.Tables)
	vocab := s.vocabulary()
	var out []*View
	for i := range s.Tables {
		if len(s.Tables[i].Columns) == 0 || s.Tables[i].RowCount == 0 {
			continue
		}
		v := &View{}
		s.attach(v, i, joint{From: -1}, vocab)
		v.derive()
		v.sales()
		v.fullNames()
		v.name(vocab)
		v.logged()
		v.money()
		v.HasRevenue = slices.ContainsFunc(v.Fields, func(f *Field) bool { return f.Measure() && f.Named("revenue") })
		v.Wide = v.columnsOf()
		v.Survey = slices.ContainsFunc(append(slices.Clone(v.Entity), v.Topics...), func(w string) bool { return lexicon().Means(w, "respondent") || w == speech.Stem("feedback") })
		out = append(out, v)
	}
	return out, vocab
}

// attach adds a table and, recursively, the tables that its keys refer to.
func (s *Source) attach(v *View, at int, j joint, vocab speech.Vocabulary) {
	t := &s.Tables[at]
	n := len(v.Tables)
	v.Tables, v.On = append(v.Tables, t), append(v.On, j)
	from := len(v.Fields)
	for i, c := range t.Columns {
		if sizes(c) {
			continue
		}
		v.Fields = append(v.Fields, &Field{Column: c, Table: n, Rows: t.RowCount, First: i == 0, Words: s.nameWordsOf(c, vocab)})
	}
	own := v.Fields[from:]
	qualify(own)
	distinguish(own)
	for k := range s.Tables {
		o := &s.Tables[k]
		if k == at || slices.Contains(v.Tables, o) || alike(t, o) || longForm(t, o) || longForm(o, t) || len(v.Tables) > 4 {
			continue
		}
		for _, a := range own {
			if b, ok := s.keyFor(a, t, o, vocab); ok {
				s.attach(v, k, joint{From: n, OwnKey: a.Name, OtherKey: b}, vocab)
				break
			}
		}
	}
}

// keyFor finds the unique column of another table that a column refers to by name:
// customer_id → customers.customer_id, or customers.id.
func (s *Source) keyFor(a *Field, t, o *Table, vocab speech.Vocabulary) (string, bool) {
	if a.Dated() || a.Boolean() || a.Type == "number" || a.Yearly() || !(a.Key() || a.Text()) {
		return "", false
	}
	for _, c := range o.Columns {
		b := Field{Column: c, Words: s.nameWordsOf(c, vocab)}
		if !b.Unique(o.RowCount) || (c.Type == "text") != (a.Type == "text") {
			continue
		}
		named := strings.EqualFold(strings.Join(SplitName(c.Name), "_"), strings.Join(SplitName(a.Name), "_"))
		if len(b.Words) == 1 && speech.IDWords[b.Words[0].Fold] && len(a.Words) > 1 && a.Key() {
			named = !strings.EqualFold(t.Name, o.Name) && slices.ContainsFunc(SplitName(o.Name), func(w string) bool { return speech.Stem(w) == a.Words[0].Stem })
		} else if len(b.Words) == 1 && speech.IDWords[b.Words[0].Fold] {
			named = false // id = id says nothing
		}
		if named && !lexicon().Means(b.Head(), "comment") {
			return c.Name, true
		}
	}
	return "", false
}

// alike reports whether two tables have the same columns, as parts of one table do.
func alike(a, b *Table) bool {
	return slices.EqualFunc(a.Columns, b.Columns, func(x, y Column) bool { return strings.EqualFold(x.Name, y.Name) })
}

var sizeShape = pattern.Lazy(`^\[\d+ values\]$`)

// sizes reports whether a column only holds the lengths of the lists in a file.
func sizes(c Column) bool {
	return len(c.Values) > 0 && !slices.ContainsFunc(c.Values, func(v any) bool {
		s, _ := v.(string)
		return !sizeShape().MatchString(s)
	})
}

// longForm reports whether a table is another one with its time columns as rows.
func longForm(long, wide *Table) bool {
	return long.Name == wide.Name+"_long" && long.Path == wide.Path
}

// fullNames adds a field that joins the columns of first and last names.
func (v *View) fullNames() {
	var first, last *Field
	for _, f := range v.Fields {
		if f.Table != 0 || !f.Text() {
			continue
		}
		switch strings.Join(SplitName(f.Name), "") {
		case "firstname", "vorname", "givenname", "prenom":
			first = f
		case "lastname", "nachname", "surname", "familyname", "nom":
			last = f
		}
	}
	if first == nil || last == nil {
		return
	}
	v.Fields = append(v.Fields, &Field{
		Column: Column{Name: "name", Type: "text", DistinctCapped: true}, Names: []*Field{first, last},
		Words: []speech.Word{{Fold: "name", Stem: speech.Stem("name")}},
	})
}

// containers are endings of compound file names whose first part says what the file lists.
var containers = strings.Fields("liste buch tabelle datei protokoll export ubersicht verzeichnis statistik log list table register")

// rowConcepts are the concepts that the rows of a list can be.
var rowConcepts = strings.Fields("member employee student customer product order ticket invoice supplier donor book loan vehicle trip property match player visitor donation")

// name collects the words for one row, from the names of the table, its file and its key column.
func (v *View) name(vocab speech.Vocabulary) {
	t := v.Tables[0]
	base := strings.TrimSuffix(path.Base(t.Path), path.Ext(t.Path))
	seen := map[string]bool{}
	topic := func(st string) bool {
		if seen[st] {
			return false
		}
		seen[st] = true
		v.Topics = append(v.Topics, st)
		return true
	}
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
		for _, w := range SplitName(name) {
			for _, part := range vocab.Split(w) {
				v.Names = append(v.Names, part)
				st := speech.Stem(part)
				if len(st) > 1 && (t.Union == "" || strings.Trim(st, "0123456789") != "") && topic(st) && // 2024 is one of several years
					(lexicon().Concepts[st] != nil || !strings.ContainsFunc(st, unicode.IsDigit)) {
					v.Entity = append(v.Entity, st)
				}
			}
		}
	}
	for _, w := range slices.Clone(v.Names) {
		for _, end := range containers {
			base, ok := strings.CutSuffix(w, end)
			st := speech.Stem(strings.TrimSuffix(base, "s"))
			if !ok || len(base) < 4 || !topic(st) {
				continue
			}
			v.Names = append(v.Names, base)
			if slices.ContainsFunc(rowConcepts, func(c string) bool { return lexicon().Means(st, c) || lexicon().Means(speech.Stem(base), c) }) {
				v.Entity = append(v.Entity, st) // a Mitgliederliste lists members
			}
		}
	}
	for _, w := range SplitName(t.Title) {
		if st := speech.Stem(w); len(st) > 3 && !lexicon().Fillers[w] && lexicon().Phrases[w] == nil && !strings.ContainsFunc(st, unicode.IsDigit) {
			topic(st)
		}
	}
	for i, f := range v.Fields {
		if f.Table != 0 || !(f.Key() && (i == 0 || v.Unique(f))) || len(f.Words) < 2 {
			continue
		}
		if st := f.Words[0].Stem; !seen[st] && !speech.IDWords[f.Words[0].Fold] {
			seen[st] = true
			v.Entity = append(v.Entity, st)
		}
	}
}
