package wire

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// TestNameReader: media that are longer than the window of the reader are replaced whole, however they are folded or
// escaped and wherever the window ends. Text before and after them is unchanged.
func TestNameReader(t *testing.T) {
	t.Parallel()
	b64 := std(wholePNG(50_000))
	for name, body := range map[string]string{
		"one line":           b64,
		"data: URL":          "data:image/png;base64," + b64,
		"folded":             strings.TrimSpace(folded(b64, 76, "\n")),
		"folded and escaped": strings.TrimSuffix(folded(b64, 76, `\n`), `\n`),
		"escaped twice":      strings.TrimSuffix(folded(b64, 76, `\\r\\n`), `\\r\\n`),
		"indent escaped":     strings.TrimSuffix(folded(b64, 76, `\n\t`), `\n\t`),
		"escaped slashes":    strings.ReplaceAll(b64, "/", `\/`),
		"indented":           strings.TrimSpace(folded(b64, 76, "\n    ")),
		"indented by a tab":  strings.TrimSpace(folded(b64, 76, "\r\n\t")),
		"percent escapes":    strings.NewReplacer("+", "%2B", "/", "%2f", "=", "%3D").Replace(b64),
	} {
		for shift := range 10 { // commas keep the run in the window: its end is at different places of a line
			before, after := " ("+strings.Repeat(",", shift), ") and *words* after it\n"
			got, err := io.ReadAll(NameReader(strings.NewReader(before + body + after)))
			if want := before + mediaName + after; err != nil || string(got) != want {
				t.Fatalf("%s, shifted by %d: %v, %d bytes: %s", name, shift, err, len(got), clipped(string(got)))
			}
		}
	}
}

// TestNameReaderKeepsText: text without media passes byte for byte, wherever the window ends; so do errors.
func TestNameReaderKeepsText(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		strings.Repeat("a line of words, and more\n", 8_000), strings.Repeat("12\t34\n", 30_000), strings.Repeat("word\n    ", 20_000),
		strings.Repeat(" \t\r\n", 40_000), strings.Repeat("100% of it; ", 12_000), strings.Repeat(`a\nb`, 40_000),
		strings.Repeat(".", 2*windowBytes-len(mediaName)) + mediaName + "words follow",
	} {
		got, err := io.ReadAll(NameReader(iotest.HalfReader(strings.NewReader(text))))
		if err != nil || string(got) != text {
			t.Errorf("%.40q: %v, %d bytes instead of %d", text, err, len(got), len(text))
		}
	}
	broken := errors.New("connection reset")
	got, err := io.ReadAll(NameReader(io.MultiReader(strings.NewReader("some words"), iotest.ErrReader(broken))))
	if string(got) != "some words" || !errors.Is(err, broken) {
		t.Errorf("%q, %v", got, err)
	}
}
