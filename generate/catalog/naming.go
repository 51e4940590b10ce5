package catalog

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"atelier/media"
)

// The ranks of a row's claim to a name: the lowest wins. Names of the user's files come before shipped names, a name
// before an API id, which nobody can choose, and a name before "provider/name".
const (
	ownName = iota
	ownID
	ownQualified
	shippedName
	shippedQualified
)

type nameClaim struct {
	name      string
	row, rank int
}

// unqualified reports whether the name has no provider.
func (k nameClaim) unqualified() bool { return k.rank != ownQualified && k.rank != shippedQualified }

func (m Model) names() []string { return append([]string{m.Name, m.APIModel}, m.Aliases...) }

// name assigns the names to the rows. A shipped row that loses its display name to a user's row is then called
// "provider/name", and is still found with its provider under all its names. The error reports a name that is ambiguous
// between several rows.
func (c *Catalog) name() error {
	c.index, c.ambiguousNames = map[string]int{}, map[string][]int{}
	var order []string
	claims := map[string][]nameClaim{}
	add := func(k nameClaim) {
		at := key(k.name)
		if len(claims[at]) == 0 {
			order = append(order, at)
		}
		claims[at] = append(claims[at], k)
	}
	for i, m := range c.rows {
		for j, n := range m.names() {
			rank, qualified := ownName, ownQualified
			switch given, ok := c.given[key(n)]; {
			case ok && given == i:
				rank, qualified = shippedName, shippedQualified
			case j == 1: // the API id
				rank = ownID
			}
			add(nameClaim{n, i, rank})
			add(nameClaim{m.Provider + "/" + n, i, qualified})
		}
	}
	for _, at := range order {
		if err := c.settle(at, claims[at]); err != nil {
			return err
		}
	}
	for i, m := range c.rows {
		if have, ok := c.index[key(m.Name)]; !ok || have != i {
			return c.duplicateNameError(m.Name, i, have)
		}
	}
	return nil
}

// settle assigns one name. An id that several of the user's services share is assigned to none of them: it needs its
// provider.
func (c *Catalog) settle(at string, claims []nameClaim) error {
	best := slices.MinFunc(claims, func(a, b nameClaim) int { return a.rank - b.rank })
	winners := []int{best.row}
	for _, k := range claims {
		switch again := slices.Contains(winners, k.row); {
		case again:
		case k.unqualified() && best.unqualified() && (k.rank == best.rank && k.rank != ownID || c.rows[k.row].Provider == c.rows[best.row].Provider):
			return c.duplicateNameError(k.name, best.row, k.row)
		case k.rank == ownID && best.rank == ownID:
			winners = append(winners, k.row)
		}
	}
	if c.index[at] = best.row; len(winners) > 1 {
		delete(c.index, at)
		c.ambiguousNames[at] = winners
	}
	for _, k := range claims {
		if k.rank == shippedName && !slices.Contains(winners, k.row) {
			c.revokeName(k, winners)
		}
	}
	return nil
}

// revokeName takes a name from a shipped row and records that in the rows that have it.
func (c *Catalog) revokeName(k nameClaim, to []int) {
	m := &c.rows[k.row]
	full := m.Provider + "/" + m.APIModel
	if k.name == m.Name {
		m.Name = m.Provider + "/" + m.Name
	}
	m.Aliases = slices.DeleteFunc(slices.Clone(m.Aliases), func(a string) bool { return key(a) == key(k.name) })
	for _, i := range to {
		if row := &c.rows[i]; !slices.Contains(row.InsteadOf, full) {
			row.InsteadOf = append(slices.Clone(row.InsteadOf), full)
		}
	}
}

func (c *Catalog) duplicateNameError(name string, row, other int) error {
	a, b := c.rows[row], c.rows[other]
	return media.Errorf(media.CodeInvalid, "model catalogue: %q is the name of both %s/%s and %s/%s: rename one",
		name, a.Provider, a.APIModel, b.Provider, b.APIModel)
}

// Ambiguous returns the qualified names of the models that a bare API id may mean, where several services of the user's
// files share it; empty for all other names.
func (c *Catalog) Ambiguous(name string) []string {
	var out []string
	for _, i := range c.ambiguousNames[key(name)] {
		out = append(out, c.rows[i].Provider+"/"+c.rows[i].APIModel)
	}
	return out
}

// LookupForProvider finds a model of one provider by its own names, even if other rows have them too.
func (c *Catalog) LookupForProvider(provider, name string) (Model, bool) {
	i := slices.IndexFunc(c.rows, func(m Model) bool {
		return m.Provider == provider && slices.ContainsFunc(m.names(), func(n string) bool { return key(n) == key(name) })
	})
	if i < 0 {
		return Model{}, false
	}
	return c.rows[i], true
}

// Has reports whether any row satisfies fits.
func (c *Catalog) Has(fits func(Model) bool) bool { return slices.ContainsFunc(c.rows, fits) }

// Near returns the names of the living models that are nearest to a name, best first.
func (c *Catalog) Near(name string, now time.Time) []string {
	const most = 4
	type scored struct {
		name string
		d    int
	}
	var all []scored
	ask := key(name)
	ask = ask[:min(len(ask), 60)]
	for _, m := range c.rows {
		if !m.Alive(now) {
			continue
		}
		best := -1
		for _, n := range m.names() {
			d := distance(ask, key(n))
			if strings.Contains(key(n), ask) || strings.Contains(ask, key(n)) {
				d = min(d, 1)
			}
			if best < 0 || d < best {
				best = d
			}
		}
		all = append(all, scored{m.Name, best})
	}
	slices.SortStableFunc(all, func(a, b scored) int { return cmp.Compare(a.d, b.d) })
	var names []string
	for _, s := range all[:min(most, len(all))] {
		names = append(names, s.name)
	}
	return names
}

// distance is the Levenshtein distance in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}

// Options returns all options that the models of a provider accept; false if there is no such provider.
func (c *Catalog) Options(provider string) (names []string, known bool) {
	for _, m := range c.rows {
		if !strings.EqualFold(m.Provider, provider) {
			continue
		}
		known = true
		for _, name := range m.Options {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names, known
}

// Providers returns the provider keys in catalogue order.
func (c *Catalog) Providers() []string {
	var keys []string
	for _, m := range c.rows {
		if !slices.Contains(keys, m.Provider) {
			keys = append(keys, m.Provider)
		}
	}
	return keys
}
