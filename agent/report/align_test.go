package report

import (
	"strconv"
	"strings"
	"testing"

	"atelier/agent/evidence"
	"atelier/media"
)

func TestColumnsOfNumbersAreFlushRight(t *testing.T) {
	t.Parallel()
	root := sanitise(`<table><thead><tr><th>Year</th><th>Shop</th><th>Amount</th><th>Share</th></tr></thead><tbody>` +
		`<tr><td>2023</td><td>North 1</td><td>1,204.50 €</td><td>−3 %</td></tr><tr><td>2024</td><td>7</td><td></td><td>12.5 %</td></tr></tbody></table>` +
		`<table><tr><td colspan="2">7</td></tr><tr><td>1</td><td>2</td></tr></table>` +
		`<table><tr><th class="n">Sold</th></tr><tr><td class="n">12.5</td></tr></table>`)
	alignNumbers(root)
	got := markup(root)
	for _, want := range []string{`<th class="atelier-figure">Amount</th>`, `<td class="atelier-figure">1,204.50 €</td>`, `<td class="atelier-figure">−3 %</td>`, `<th>Year</th>`, `<td>2023</td>`, `<td>7</td>`, `<td class="n atelier-figure">12.5</td>`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	if n := strings.Count(got, "atelier-figure"); n != 8 {
		t.Errorf("%d cells are flush right, want 8 in %s", n, got)
	}
}

// TestLongSentenceIsReadOnce: the text of a sentence is not built again for each of its numbers.
func TestLongSentenceIsReadOnce(t *testing.T) { //nolint:paralleltest // it counts allocated bytes
	var text strings.Builder
	for i := range 2000 {
		text.WriteString(strconv.Itoa(100_000+7*i) + " ; ")
	}
	got := testing.Benchmark(func(b *testing.B) {
		b.Helper()
		for range b.N {
			trace(sanitise("<p>"+text.String()+"</p>"), &evidence.Set{}, english())
		}
	}).AllocedBytesPerOp()
	if got > 1000*int64(text.Len()) {
		t.Errorf("%d bytes allocated for a text of %d bytes", got, text.Len())
	}
}

// TestFigureOfManyPictures: the caption of a figure is not examined again for each of its pictures.
func TestFigureOfManyPictures(t *testing.T) { //nolint:paralleltest // it counts allocated bytes
	text := "<figure>" + strings.Repeat(`<img src="`+hiddenScheme+`img-7k3m9q2x">`, 2000) + "<figcaption>Seas</figcaption></figure>"
	find := func(ref media.Ref) (media.Output, bool) {
		o := media.Output{Ref: ref, Modality: media.ModalityImage}
		o.Metadata = map[string]any{"digital_source_type": sourceModel}
		return o, true
	}
	got := testing.Benchmark(func(b *testing.B) {
		b.Helper()
		for range b.N {
			root := sanitise(text)
			describe(root, find, english())
			if strings.Count(markup(root), "Seas. AI-generated.") != 1 {
				b.Error("another caption")
			}
		}
	}).AllocedBytesPerOp()
	if got > 1000*int64(len(text)) {
		t.Errorf("%d bytes allocated for a text of %d bytes", got, len(text))
	}
}
