package evidence_test

import (
	"strings"
	"testing"

	"atelier/agent/evidence"
)

// BenchmarkAddText reads the numbers of a long page.
func BenchmarkAddText(b *testing.B) {
	text := strings.Repeat("In March 2024 the plant made 3,412.5 MWh (12.4 %), see www.example.org/a/2024; on 2024-03-01 it cost 1.2 million €. ", 1000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		var s evidence.Set
		s.AddText("page", text)
	}
}
