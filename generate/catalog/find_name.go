package catalog

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Has reports whether any row fits.
func (c *Catalog) Has(fits func(Model) bool) bool { return slices.ContainsFunc(c.rows, fits) }

// Near lists the living models whose names come nearest, best first.
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
		for _, n := range append([]string{m.Name, m.APIModel}, m.Aliases...) {
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

// Options lists all that the models of a provider take; false if there is no such provider.
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

// Providers lists the provider keys of the catalogue in its order.
func (c *Catalog) Providers() []string {
	var keys []string
	for _, m := range c.rows {
		if !slices.Contains(keys, m.Provider) {
			keys = append(keys, m.Provider)
		}
	}
	return keys
}
