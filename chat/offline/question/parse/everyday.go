package parse

import (
	"slices"
	"strings"

	"atelier/chat/offline/question/schema"
	"atelier/chat/offline/question/speech"
)

// joinedAt finds a column whose name is one word and that the question writes as several:
// PM2.5 for pm25, e-mail for email.
func (r *Tagger) joinedAt(v *schema.View, i int) []Piece {
	var out []Piece
	text := r.Tokens[i].Fold
	for k := i + 1; k < len(r.Tokens) && k < i+3 && !r.Tokens[i].Quoted; k++ {
		if r.Tokens[k].From > r.Tokens[k-1].To+1 || r.Tokens[k].From < r.Tokens[k-1].To {
			break
		}
		if text += r.Tokens[k].Fold; !strings.ContainsAny(text, "0123456789") && !strings.Contains(r.Text[r.Tokens[i].From:r.Tokens[k].To], "-") {
			continue
		}
		for _, f := range v.Fields {
			name := strings.Join(schema.SplitName(schema.Brackets().ReplaceAllString(f.Name, "")), "")
			if f.Factors == nil && len(text) > 2 && (name == text || strings.TrimSuffix(name, speech.Fold(f.Unit)) == text) {
				out = append(out, Piece{Kind: speech.KindField, Field: f, From: i, To: k + 1, Weight: 11 * float64(k+1-i)})
			}
		}
	}
	return out
}

// spelledUnit returns the unit that the name of a column spells out: Cubic metres.
func spelledUnit(name string) string {
	return map[string]string{"cubic metres": "m3", "cubic meters": "m3", "kubikmeter": "m3"}[strings.Join(schema.SplitName(name), " ")]
}

// attachedAt finds the name of another table that the rows refer to, if it is not counted:
// spent on fuel for the vehicles of the depot.
func (r *Tagger) attachedAt(v *schema.View, i int) []Piece {
	t := r.Tokens[i]
	if t.Quoted || t.Part || i == 0 || r.AskedFor(i) && r.Tokens[i-1].Fold != "the" {
		return nil
	}
	for _, o := range v.Tables[1:] {
		if slices.ContainsFunc(schema.SplitName(o.Name), func(w string) bool { return len(w) > 3 && speech.Stem(w) == t.Stem }) {
			return []Piece{{Kind: speech.KindEntity, Arg: "topic", From: i, To: i + 1, Weight: 2}}
		}
	}
	return nil
}

// HalfAt returns the number of tokens of half an hour.
func HalfAt(ts []speech.Token, i int) int {
	if i+2 < len(ts) && ts[i].Fold == "half" && (ts[i+1].Fold == "an" || ts[i+1].Fold == "a") && schema.UnitNames[ts[i+2].Fold] != "" {
		return 3
	}
	if i+1 < len(ts) && (ts[i].Fold == "halbe" || ts[i].Fold == "halben") && schema.UnitNames[ts[i+1].Fold] != "" {
		return 2
	}
	return 0
}

// paidIn returns a German participle without a prefix that says that something comes in: eingezahlt, gezahlt.
func paidIn(w string) string {
	for _, p := range []string{"ein", "an", "auf"} {
		if rest, ok := strings.CutPrefix(w, p); ok && strings.HasPrefix(rest, "ge") && len(rest) > 6 {
			return rest
		}
	}
	return ""
}

// fieldPiece returns a token as the name of a column; nothing if there is no column.
func fieldPiece(f *schema.Field, i int, weight float64) []Piece {
	if f == nil {
		return nil
	}
	return []Piece{{Kind: speech.KindField, Field: f, From: i, To: i + 1, Weight: weight}}
}

// compoundAt finds a German compound of a value and the word for the rows: Sturmeinsätze,
// the rows with the value Sturm.
func (r *Matcher) compoundAt(v *schema.View, i int) []Piece {
	t := r.Tokens[i]
	if r.Lang != speech.German || t.Quoted || t.Part || len(t.Fold) < 9 {
		return nil
	}
	for _, e := range append(slices.Clone(v.Entity), v.Topics...) {
		at := strings.LastIndex(t.Fold, e)
		if len(e) < 4 || at < 3 || len(t.Fold)-at-len(e) > 2 {
			continue
		}
		text := t.Fold[:at]
		for _, f := range v.Fields {
			if f.Table != 0 || !f.Text() || f.Free {
				continue
			}
			for _, value := range r.valuesOf(v, f) {
				if w := speech.Fold(value); len(w) > 3 && (text == w || text == w+"s" || text == w+"n" || text+"e" == w) {
					return []Piece{{Kind: speech.KindValue, Field: f, Values: []string{value}, From: i, To: i + 1, Weight: 12}}
				}
			}
		}
	}
	return nil
}

// aboutAt reports whether a German noun after zur, zum, beim or im is what the table is
// about, as a compound in its name says: zur Arbeit, for a survey Arbeitsweg.
func (r *Tagger) aboutAt(v *schema.View, i int) bool {
	t := r.Tokens[i]
	if r.Lang != speech.German || t.Quoted || t.Part || len(t.Fold) < 5 || i == 0 || r.Counted(i) || !atThe[r.Tokens[i-1].Fold] {
		return false
	}
	return slices.ContainsFunc(v.Names, func(n string) bool { return strings.HasPrefix(n, t.Fold) && len(n) > len(t.Fold)+2 })
}

var atThe = speech.Folded("zur zum beim im")

// cut reports whether n tokens from i on are only a part of a hyphenated word: the double of
// double-booked. A part that names the column of the value does not count: high-priority.
func (r *Tagger) cut(f *schema.Field, i, n int) bool {
	names := func(t speech.Token) bool {
		return slices.ContainsFunc(f.Words, func(w speech.Word) bool { return speech.SameWord(t, speech.Token{Fold: w.Fold, Stem: w.Stem}) })
	}
	joined := func(a, b speech.Token) bool {
		return !names(a) && !names(b) && !a.Quoted && !b.Quoted && a.To+1 == b.From && b.From <= len(r.Text) && r.Text[a.To:b.From] == "-"
	}
	return r.Lang == speech.English && (i > 0 && joined(r.Tokens[i-1], r.Tokens[i]) || i+n < len(r.Tokens) && joined(r.Tokens[i+n-1], r.Tokens[i+n]))
}

// doer reports whether one word names who does what the other says: call and caller.
func doer(a, b string) bool {
	return a+"er" == b || b+"er" == a || a+"r" == b && len(a) > 3 || b+"r" == a && len(b) > 3
}

// OfOtherRows reports whether a word that seems to say whose data it is names the rows of
// another table: orders, in a list of customers.
func (r *Matcher) OfOtherRows(v *schema.View, t speech.Token) bool {
	in := func(o *schema.View) bool {
		return slices.Contains(o.Entity, t.Stem) || slices.Contains(o.Topics, t.Stem)
	}
	return !in(v) && slices.ContainsFunc(r.Views, in)
}
