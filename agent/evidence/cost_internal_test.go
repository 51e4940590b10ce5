package evidence

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestScanCopiesNoText: scanning a long list of prices does not copy the rest of the text for each of them.
func TestScanCopiesNoText(t *testing.T) { //nolint:paralleltest // it counts allocated bytes
	text := strings.Repeat("costs $15.99 ", 2000) + "END"
	got := testing.Benchmark(func(b *testing.B) {
		b.Helper()
		for range b.N {
			Scan(text)
		}
	}).AllocedBytesPerOp()
	if got > 200*int64(len(text)) {
		t.Errorf("%d bytes allocated for a text of %d bytes", got, len(text))
	}
}

// TestWideResultIsBounded: wide results do not fill the memory with derived values, and those beside them count.
func TestWideResultIsBounded(t *testing.T) {
	t.Parallel()
	var s Set
	for query := range 3 {
		r := result{Statement: fmt.Sprintf("SELECT * FROM wide%d", query)}
		for c := range 300 {
			r.Columns = append(r.Columns, fmt.Sprint("c", c))
		}
		for row := range 10 {
			cells := make([]any, len(r.Columns))
			for c := range cells {
				cells[c] = float64(row*1000+c) + 0.5
			}
			r.Rows = append(r.Rows, cells)
		}
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		s.AddResult("Query Tables", b)
	}
	s.AddResult("Query Tables", json.RawMessage(`{"statement": "SELECT 70000.25, 1000000.5", "columns": ["a", "b"], "rows": [[70000.25, 1000000.5]]}`))
	for text, want := range map[string]Support{"exactly 1000.5 of them": Held, "1,070,000.75 in total": Derived} {
		if v := s.Trace(Scan(text)[0]); v.Support != want {
			t.Errorf("%s: %+v", text, v)
		}
	}
	if n := len(s.derived); n > 100_000 {
		t.Errorf("%d derived values", n)
	}
}
