package table

import "slices"

// survey is the result of the first pass over a table: its columns, and which records are rows.
type survey struct {
	layout  layout
	tallies []*tally
	rows    int
	// excluded are the records that are not rows, by their number, counted from the first record.
	excluded        map[int]bool
	totals, headers int
	footers         int
	ragged          int
	style           style
	// tail lists records at the end that may be remarks; suspect is one that may be a total.
	tail    []int
	suspect int
}

// maxExcluded is the number of excluded records after which no more headers and totals are detected.
const maxExcluded = 10_000

// add adds the record with the given number, counted from the first record.
func (s *survey) add(at int, record []cell) {
	if !s.style.named && blank(record) {
		return
	}
	if !s.style.named && isFooter(record, len(s.tallies), s.style.loose) && len(s.tail) < 100 {
		s.tail = append(s.tail, at)
		return
	}
	if len(s.excluded) < maxExcluded {
		if h := s.layout.header; len(h) > 1 && len(record) >= len(h) && slices.EqualFunc(h, record[:len(h)], func(name string, c cell) bool { return name == string(c.text) }) {
			s.excluded[at] = true
			s.headers++
			return
		}
		sure, suspect := s.isTotal(record)
		if sure {
			s.excluded[at] = true
			s.totals++
			s.join()
			s.suspect = -1
			for _, t := range s.tallies {
				t.sumPoint.part, t.sumComma.part = 0, 0
			}
			return
		}
		s.suspect = -1
		if suspect {
			s.suspect = at
		}
	}
	s.join()
	s.rows++
	if len(record) > len(s.tallies) && !blank(record[len(s.tallies):]) || len(record) < len(s.tallies) && !s.style.loose {
		s.ragged++
	}
	for i, t := range s.tallies {
		if i < len(record) {
			t.add(record[i])
		} else {
			t.missing++
		}
	}
}

// join turns records that looked like remarks at the end into rows, because more rows follow.
func (s *survey) join() {
	s.rows += len(s.tail)
	for i, t := range s.tallies {
		if i == 0 {
			t.values += len(s.tail)
		} else {
			t.missing += len(s.tail)
		}
	}
	s.tail = s.tail[:0]
}

// blank reports whether no cell has text.
func blank(record []cell) bool {
	return !slices.ContainsFunc(record, func(c cell) bool { return len(c.text) > 0 })
}

// notes describes what the survey found.
func (s *survey) notes() []string {
	notes := slices.Clone(s.layout.notes)
	for _, n := range []struct {
		count        int
		one, several string
	}{
		{s.totals, "total row is omitted, so that sums do not count twice", "total rows are omitted, so that sums do not count twice"},
		{s.headers, "repeated header is omitted", "repeated headers are omitted"},
		{s.footers, "remark below the table is omitted", "remarks below the table are omitted"},
		{s.ragged, "row has more or fewer cells than the header; missing cells are empty, extra ones are omitted", "rows have more or fewer cells than the header; missing cells are empty, extra ones are omitted"},
	} {
		if n.count > 0 {
			notes = append(notes, counted(n.count, n.one, n.several))
		}
	}
	return notes
}
