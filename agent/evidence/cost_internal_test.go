package evidence

import (
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
