package main

import (
	"slices"
	"strings"
	"testing"
)

// TestFirstTwo: sentences end where a reader sees their end.
func TestFirstTwo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"One. Two. Three.", "One. Two."},
		{"The mean is 3.5 points. It rose. It fell.", "The mean is 3.5 points. It rose."},
		{"Some fruit, e.g. Apples, sold 4. Pears sold 5. Plums sold 6.", "Some fruit, e.g. Apples, sold 4. Pears sold 5."},
		{"Am 31. Dezember 2024 waren es 7. Am 31.12.2023 waren es 6. Mehr nicht.", "Am 31. Dezember 2024 waren es 7. Am 31.12.2023 waren es 6."},
		{"Rechnung Nr. 7 ist offen, z. B. Miete. Die Summe ist 4,50 €. Ende.", "Rechnung Nr. 7 ist offen, z. B. Miete. Die Summe ist 4,50 €."},
		{"No. It is not. Or No. 5 is it.", "No. It is not."},
		{"J. Bauer leads. M. Novak follows. R. Lie is third.", "J. Bauer leads. M. Novak follows."},
		{"Is it 4? Yes! And more.", "Is it 4? Yes!"},
		{"**It is 4.** \"So it is.\" More.", "**It is 4.** \"So it is.\""},
		{"From sales.csv: 5 rows. All count. None is left out.", "From sales.csv: 5 rows. All count."},
		{"# Sales\nIt is 4. It was 3.", "# Sales\nIt is 4."},
		{"Sales\n\nIt is 4. It was 3.", "Sales\n\nIt is 4."},
		{"It is 4.\n\nIt was 3.\n\nNo more.", "It is 4.\n\nIt was 3."},
		{"- It is 4\n- It was 3\n- No more", "- It is 4\n- It was 3"},
		{"The top three:\n- A 5\n- B 4\n- C 3\n\nThat is all. More.", "The top three:\n- A 5\n- B 4\n- C 3\n\nThat is all."},
		{"only one", "only one"},
		{"", ""},
	} {
		if got := strings.TrimSpace(firstTwo(c.text)); got != c.want {
			t.Errorf("%q\n got %q\nwant %q", c.text, got, c.want)
		}
	}
}

// TestNumbersIn: English and German notation is read; dates, times and names are ignored.
func TestNumbersIn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ language, text, want string }{
		{"en", "48,210.50 in all", "48210.50"},
		{"en", "48.210,50 in all", "48210.50"},
		{"en", "48 210,5 in all", "48210.5 48 210.5"},
		{"en", "48\u202f210,50 €", "48210.50 48 210.50"},
		{"en", "€1,234 and 1.234", "1234 1.234"},
		{"de", "1.234 € und 1,234 t", "1234 1.234"},
		{"de", "1.234.567 und 12,5 %", "1234567 12.5"},
		{"en", "0.347 or 34.7%", "0.347 34.7"},
		{"de", "0,347 oder 3.5", "0.347 3.5"},
		{"en", "1'250'000.25", "1250000.25"},
		{"en", "on 2024-03-15 at 13:45, 7 of 9", "2024 7 9"},
		{"de", "am 31.12.2024 um 9:30:00 Uhr 8 Stück", "2024 8"},
		{"en", "on 3/15/2024 and in 2024-05", "2024 2024"},
		{"en", "bolt M8, plate HH-AT-101, A12, 5kg", "5"},
		{"en", "from -3.2 to −4, range 10-12", "-3.2 -4 10 12"},
		{"en", "seven of twelve", "7 12"},
		{"de", "Zwölf, also 12.", "12 12"},
		{"en", "In 2023 150 people came.", "2023 150"},
		{"en", "version 1.2.3", ""},
		{"en", "", ""},
	} {
		var got []string
		for _, n := range numbersIn(c.text, c.language) {
			got = append(got, n.text)
		}
		want := strings.Fields(c.want)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s %q: %v, want %v", c.language, c.text, got, want)
		}
	}
}

// TestStates: a fact matches only in its spellings; a number may be rounded.
func TestStates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		language, text, spelling string
		want                     bool
	}{
		{"en", "It is 48,210.50 EUR", "48210.5", true},
		{"de", "Es sind 48.210,50 €", "48210.5", true},
		{"en", "It is 48,211 EUR", "48210.5", true},
		{"en", "It is 48,212 EUR", "48210.5", false},
		{"en", "It is 48 thousand", "48210.5", false},
		{"en", "It is 48,000", "48210.5", false},
		{"en", "It is 48.2105 thousand", "48210.5", true},
		{"en", "It is 83.2 million", "83.2", true},
		{"en", "It is 4.55 million", "4550000", true},
		{"en", "It is 4.6 million", "4550000", false},
		{"en", "It is 62.18 %", "62.18", true},
		{"en", "It is 62.2 %", "62.18", true},
		{"en", "It is 62.1795 %", "62.18", true},
		{"en", "It is 62.1 %", "62.18", false},
		{"en", "It is 4", "3.89", false},
		{"en", "It is 3.9", "3.89", true},
		{"en", "It is 4.1987", "4.2", true},
		{"en", "It is 4.24", "4.2", false},
		{"en", "There are 7", "7", true},
		{"en", "There are seven", "7", true},
		{"en", "There are 70", "7", false},
		{"en", "There are 3.42", "42", false},
		{"en", "It fell by -3.2", "3.2", false},
		{"en", "in postcode 00442", "442", true},
		{"en", "in postcode 442", "00442", false},
		{"en", "The best is **Cappuccino**.", "cappuccino", true},
		{"en", "The best is Nordstrom", "Nord", false},
		{"en", "Nordstrom, then Nord", "Nord", true},
		{"de", "Es ist Südbahnhof.", "Südbahnhof", true},
		{"en", "It is Südbahn", "Bahn", false},
		{"en", "In 2024-03 it was best", "2024-03", true},
		{"en", "In 2024-03-11 it was best", "2024-03-12", false},
		{"en", "HH-AT 102 used most", "HH-AT 102", true},
		{"en", "HH-AT 1024 used most", "HH-AT 102", false},
		{"en", "", "x", false},
	} {
		if got := states(c.text, c.spelling, c.language); got != c.want {
			t.Errorf("%s %q states %q: %v", c.language, c.text, c.spelling, got)
		}
	}
}

// TestJudge: a message with every fact in two sentences is right, a refusal is a refusal, all else is wrong.
func TestJudge(t *testing.T) {
	t.Parallel()
	best := corpusCase{Language: "en", Expect: "answer", Truth: [][]string{{"March 2024", "2024-03"}, {"48210.5"}}}
	none := corpusCase{Language: "de", Expect: "refuse"}
	for _, c := range []struct {
		c       corpusCase
		message string
		want    corpusVerdict
	}{
		{best, "March 2024 was best, with 48,210.50 EUR. So says sales.csv.", corpusRight},
		{best, "The best month is 2024-03. Its revenue is 48210.5.", corpusRight},
		{best, "The best month is March 2024. So says sales.csv.", corpusWrong},
		{best, "The best month is March 2024. It is in sales.csv. Its revenue is 48210.5.", corpusWrong},
		{best, "The best month is April 2024, with 48,210.50 EUR.", corpusWrong},
		{best, "Offline, this question cannot be answered. The sources hold sales.csv.", corpusRefused},
		{best, "Here is a report. It has 3 parts. Offline, this question cannot be answered.", corpusWrong},
		{best, "", corpusWrong},
		{none, "Offline, this question cannot be answered. Offline lässt sich diese Frage nicht beantworten.", corpusRight},
		{none, "Der Umsatz beträgt 12.", corpusWrong},
	} {
		if got := c.c.judge(c.message); got != c.want {
			t.Errorf("%q is %s, want %s", c.message, got, c.want)
		}
	}
}

// FuzzCorpusJudge: every message gets a verdict, and its first two sentences do not exceed three times its bytes.
func FuzzCorpusJudge(f *testing.F) {
	f.Add("It is 48,210.50. At 13:45, e.g. 3 150 of 2023. Z. B. 4,5.", "48210.5", "en")
	f.Add("1.234,5 1.2.3 '’ −-4\n\n- a\n- b", "Süd", "de")
	f.Fuzz(func(t *testing.T, message, spelling, language string) {
		if first := firstTwo(message); len(first) > len(message)*3 {
			t.Errorf("%q gave %q", message, first)
		}
		if spelling == "" {
			return // no case has an empty spelling
		}
		c := corpusCase{Language: language, Expect: "answer", Truth: [][]string{{spelling}}}
		if v := c.judge(message); v != corpusRight && v != corpusRefused && v != corpusWrong {
			t.Errorf("verdict %q", v)
		}
	})
}

// TestReportText: a report is judged from below its title, block by block.
func TestReportText(t *testing.T) {
	t.Parallel()
	page := `<html><head><title>T</title></head><body><main><h1>Is it 4?</h1><p>It is <a href="#q">4</a>.</p><p>It was 3.</p><h2>Sources</h2><p>No more.</p></main></body></html>`
	text, err := reportText(page)
	if got := strings.Join(strings.Fields(firstTwo(text)), " "); err != nil || got != "It is 4. It was 3." {
		t.Errorf("%v %q", err, got)
	}
}
