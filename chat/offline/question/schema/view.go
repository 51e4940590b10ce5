package schema

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"atelier/chat/offline/question/speech"
)

// View is a table with the tables that its keys refer to.
type View struct {
	Tables []*Table
	// On holds, for each of Tables, its join condition and the table that it joins to.
	On     []joint
	Fields []*Field
	// Entity are the words for one row; Topics are the words of the table's name and title.
	Entity, Topics []string
	// Names are the words of the table's name, folded but not stemmed.
	Names []string
	// MoneyField is the only amount of money; MoneyWords are the words that may name it.
	MoneyField *Field
	MoneyWords []string
	// Incoming means that the amounts come in: we do not spend them.
	Incoming bool
	// Survey means that the rows are the answers of people who were asked.
	Survey bool
	// HasRevenue means that the table has an amount of revenue.
	HasRevenue bool
}

type joint struct {
	From     int
	OwnKey   string
	OtherKey string
}

// Views returns the tables as questions can ask about them, and the vocabulary of their names.
func (s *Source) Views() ([]*View, speech.Vocabulary) {
	vocab := s.vocabulary()
	var out []*View
	for i := range s.Tables {
		if len(s.Tables[i].Columns) == 0 || s.Tables[i].RowCount == 0 {
			continue
		}
		v := &View{}
		s.attach(v, i, joint{From: -1}, vocab)
		v.sales()
		v.fullNames()
		v.name(vocab)
		v.money()
		v.worth()
		v.HasRevenue = slices.ContainsFunc(v.Fields, func(f *Field) bool { return f.Measure() && f.Named("revenue") })
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
		if k == at || slices.Contains(v.Tables, o) || Alike(t, o) || longForm(t, o) || longForm(o, t) || len(v.Tables) > 4 {
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

// sizes reports whether a column only holds the lengths of the lists in a file.
func sizes(c Column) bool {
	return len(c.Values) > 0 && !slices.ContainsFunc(c.Values, func(v any) bool {
		s, _ := v.(string)
		return !strings.HasPrefix(s, "[") || !strings.HasSuffix(s, " values]")
	})
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

// Alike reports whether two tables have the same columns, as parts of one table do.
func Alike(a, b *Table) bool {
	return slices.EqualFunc(a.Columns, b.Columns, func(x, y Column) bool { return strings.EqualFold(x.Name, y.Name) })
}

// longForm reports whether a table is another one with its time columns as rows.
func longForm(long, wide *Table) bool {
	return long.Name == wide.Name+"_long" && long.Path == wide.Path
}

// sales lets the only amount of a table of sales be called its revenue.
func (v *View) sales() {
	amount := Only(v.Fields, func(f *Field) bool {
		return f.Table == 0 && f.Measure() && lexicon().Means(f.Head(), "amount") && !lexicon().Means(f.Head(), "price")
	})
	named := slices.ContainsFunc(v.Fields, func(f *Field) bool { return f.Measure() && f.Named("revenue") })
	sold := slices.ContainsFunc(v.Fields, func(f *Field) bool {
		return f.Table == 0 && (f.Named("customer") || f.Named("product")) || f.Table == 0 && f.Measure() && f.Named("quantity")
	})
	if amount != nil && sold && !named {
		amount.Words = append([]speech.Word{{Fold: "revenue", Stem: speech.Stem("revenue"), Optional: true}}, amount.Words...)
	}
}

// fullNames adds a field that joins the columns of first and last names.
func (v *View) fullNames() {
	named := func(words string) *Field {
		return Only(v.Fields, func(f *Field) bool {
			return f.Table == 0 && f.Text() && slices.Contains(strings.Fields(words), strings.Join(SplitName(f.Name), ""))
		})
	}
	first, last := named("firstname vorname givenname prenom"), named("lastname nachname surname familyname nom")
	if first != nil && last != nil {
		v.Fields = append(v.Fields, &Field{
			Column: Column{Name: "name", Type: "text", DistinctCapped: true}, Parts: []*Field{first, last}, Words: []speech.Word{{Fold: "name", Stem: speech.Stem("name")}},
		})
	}
}

// worth adds a field for each price of a stock: what the pieces are worth at it.
func (v *View) worth() {
	pieces := v.StockField()
	if pieces == nil || slices.ContainsFunc(v.Fields, func(f *Field) bool { return f.Table == 0 && f.Named("worth") || f.Dated() }) {
		return // the pieces of sales are no stock
	}
	for _, price := range slices.Clone(v.Fields) {
		of := func(c string) bool { return lexicon().Means(price.Head(), c) }
		if price.Table != 0 || !price.Measure() || !of("price") && !of("cost") || pieces.Missing > 0 && price.Missing > 0 {
			continue
		}
		words := []speech.Word{{Fold: "worth", Stem: speech.Stem("worth")}}
		for _, w := range append(slices.Clone(pieces.Words), price.Words...) {
			if w.Fold != "unit" { // the product is no rate
				words = append(words, speech.Word{Fold: w.Fold, Stem: w.Stem, Optional: true})
			}
		}
		v.Fields = append(v.Fields, &Field{
			Column: Column{Name: pieces.Label() + " × " + price.Label(), Type: "number", Unit: price.UnitSymbol(), Missing: pieces.Missing + price.Missing},
			Rows:   price.Rows, Parts: []*Field{pieces, price}, Words: words,
		})
	}
}

// RowConcepts are the concepts that the rows of a list can be.
var RowConcepts = strings.Fields("member employee student customer product order ticket invoice supplier donor book loan vehicle trip property match player visitor donation respondent entry payment")

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
	for _, name := range names {
		for _, w := range SplitName(name) {
			for _, part := range vocab.Split(w) {
				v.Names = append(v.Names, part)
				st := speech.Stem(part)
				if len(st) > 1 && topic(st) &&
					(lexicon().Concepts[st] != nil || !strings.ContainsFunc(st, unicode.IsDigit)) {
					v.Entity = append(v.Entity, st)
				}
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
