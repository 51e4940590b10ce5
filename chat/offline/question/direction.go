package question

import "slices"

// leaving and reaching are words of where something begins and ends: of columns, of verbs,
// and before values.
var (
	leaving  = folded("from start starts started starting origin source depart departs departed departure leave leaves leaving left pickup von ab abfahrt startort gestartet startet starten start los")
	reaching = folded("to end ends ended ending destination dest arrive arrives arrived arrival dropoff finish finished reach reached nach ziel zielort ankunft endet enden geendet bis")
)

// direction is from or to, where the name of a column of texts says that it is where
// something begins or ends.
func (f *field) direction() string {
	if !f.text() || f.factors != nil || f.names != nil {
		return ""
	}
	return directionOf(func(set map[string]bool) bool {
		return slices.ContainsFunc(f.words, func(w word) bool { return set[w.fold] })
	})
}

func directionOf(has func(map[string]bool) bool) string {
	switch from, to := has(leaving), has(reaching); {
	case from && !to:
		return "from"
	case to && !from:
		return "to"
	}
	return ""
}

// heading is the direction that the words before a token say: started at, to the.
func (r *reader) heading(i int) string {
	for k := i - 1; k >= 0 && k >= i-3; k-- {
		t := r.ts[k]
		if d := directionOf(func(set map[string]bool) bool { return set[t.fold] }); d != "" {
			return d
		}
		if !r.lex.fill[t.fold] {
			return ""
		}
	}
	return ""
}

// heads is the direction that the last words say, behind which nothing is named: which
// station do most rides start from.
func (r *reader) heads(i int) string {
	if len(r.ts)-i > 6 {
		return ""
	}
	for k := len(r.ts) - 1; k >= max(i, len(r.ts)-2); k-- {
		if d := directionOf(func(set map[string]bool) bool { return set[r.ts[k].fold] }); d != "" {
			return d
		}
	}
	return ""
}

// headed says whether a token is a verb of leaving or reaching, in a table that has a
// column of either.
func (r *reader) headed(v *view, i int) bool {
	t := r.ts[i]
	if t.quoted || r.counted(i) || !leaving[t.fold] && !reaching[t.fold] {
		return false
	}
	from, to := false, false
	for _, f := range v.fields {
		from, to = from || f.direction() == "from", to || f.direction() == "to"
	}
	return from && to
}
