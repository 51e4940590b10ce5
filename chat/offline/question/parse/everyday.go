package parse

import (
	"slices"
	"strings"

	"atelier/chat/offline/question/schema"
	"atelier/chat/offline/question/speech"
)

// attachedAt finds the name of another table that the rows lead to, where it is not counted:
// spent on fuel for the vehicles of the depot.
func (r *Tagger) attachedAt(v *schema.View, i int) []Piece {
	t := r.Tokens[i]
	if t.Quoted || t.Part || i == 0 || r.Counted(i) || r.SuperlativeWord(i-1) || strings.HasPrefix(r.Tokens[i-1].Fold, "which") || strings.HasPrefix(r.Tokens[i-1].Fold, "welche") {
		return nil
	}
	for _, o := range v.Tables[1:] {
		if slices.ContainsFunc(schema.SplitName(o.Name), func(w string) bool { return len(w) > 3 && speech.Stem(w) == t.Stem }) {
			return []Piece{{Kind: speech.KindEntity, Arg: "topic", From: i, To: i + 1, Weight: 2}}
		}
	}
	return nil
}

// cut reports whether n tokens from i on are only a part of a word with hyphens: the double of
// double-booked. What names the column of the value is no other word: high-priority.
func (r *Tagger) cut(f *schema.Field, i, n int) bool {
	names := func(t speech.Token) bool {
		return slices.ContainsFunc(f.Words, func(w speech.Word) bool { return speech.SameWord(t, speech.Token{Fold: w.Fold, Stem: w.Stem}) })
	}
	joined := func(a, b speech.Token) bool {
		return !names(a) && !names(b) && !a.Quoted && !b.Quoted && a.To+1 == b.From && b.From <= len(r.Text) && r.Text[a.To:b.From] == "-"
	}
	return r.Lang == speech.English && (i > 0 && joined(r.Tokens[i-1], r.Tokens[i]) || i+n < len(r.Tokens) && joined(r.Tokens[i+n-1], r.Tokens[i+n]))
}

// doer reports whether one word is who does what the other says: call and caller.
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
