package evidence_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"atelier/agent/evidence"
)

// claimedNumbers lists the numbers of a text that need a source, as they are displayed.
func claimedNumbers(text string) string {
	var out []string
	for _, n := range evidence.Scan(text) {
		if n.NeedsSource() {
			out = append(out, n.Text)
		}
	}
	return strings.Join(out, " | ")
}

func TestScanFindsClaims(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Sales were 1,234.50 €, up 12 %.":                   "1,234.50 | 12 %",
		"Der Umsatz lag bei 1.234,50 € (12,5 %).":           "1.234,50 | 12,5 %",
		"Le total est de 1 234 567,8 tonnes.":               "1 234 567,8",
		"Das sind 1'234'567 Franken":                        "1'234'567",
		"About 3.7 million people and 2.1bn dollars":        "3.7 million | 2.1bn",
		"3,7 Mio. Menschen, 2 Mrd. Euro, 45 Tsd. Stück":     "3,7 Mio. | 2 Mrd. | 45 Tsd.",
		"It grew by 5 % and 3 percentage points.":           "5 % | 3 percentage points",
		"It costs $5m, €12k and CHF 30":                     "5m | 12k | 30",
		"The temperature fell to −12.5 °C and -4 °C.":       "−12.5 | −4",
		"Between 20 and 30 % of them, 2–3 million":          "20 | 30 % | 3 million",
		"12,34,567 rupees; 1.2e6 events":                    "12,34,567 | 1.2e6",
		"At 4711 m, 24-hour, 100x, 20kWh":                   "4711 | 24 | 100 | 20",
		"values 14,15,16 apart":                             "14 | 15 | 16",
		"values 14\u00a0215,16,17 apart":                    "14 | 215 | 16 | 17",
		"values 14’215,16,17 apart":                         "14 | 215 | 16 | 17",
		"p < .05 is small":                                  ".05",
		"٣٤٥ ملايين and １２３ units":                          "٣٤٥ | １２３",
		"A gain of +45 and a change from 13 to 99":          "45 | 13 | 99",
		"we lost 2000 customers":                            "2000",
		"1931 people died":                                  "1931",
		"It happened in 2000 cases.":                        "2000",
		"In 2010 emissions fell.":                           "2010", // a year if the data suggests it
		"Das war in 2000 Fällen so, nach 1900 stunden":      "2000 | 1900",
		"The 1950 customers came after 1990 hours":          "1950 | 1990",
		"In 2023 we sold more; in 2023 Germany did not":     "",
		"In the year 2000 customers came, seit 1990 Kunden": "",
		"the 90th percentile":                               "90",
		"In March 45 % more, on March 1,200 sold":           "45 % | 1,200",
		"(350)":                          "350",
		"Figure 3: 450 customers":        "450",
		"Revenue:12,500":                 "12,500",
		"It rose to 3.5. Then to 12.11.": "3.5 | 12.11",
		"Table 5, 450 customers":         "450",
		"x=42;y=43":                      "42 | 43",
		"EUR1,200 and EUR 1,300":         "1,200 | 1,300",
	} {
		if got := claimedNumbers(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestScanExempts(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "no numbers", "There are 12 stores, 3 regions and 0 errors.", "On 2024-03-01 and 2024-03-01T12:30:00Z at 14:30.",
		"Am 31.12.2024 und am 1. März 2024, 31.12., um 14.30 Uhr", "le 3 mars 2024, 1er mai", "March 15, 2024 and 15 March 2024; on March 15",
		"Since 2019, in 2024 and from 2010 to 2020.", "2010–2020, 2023/24, FY2024, the 1990s, die 90er, '90s", "In 2010, emissions fell.", "the 2024 budget", "Im Jahr 1931 war es heiß; seit 1950 nicht mehr.",
		"Figure 14 shows it; Table 23, Fig. 17, Abb. 15, Tabelle 22, page 145, S. 33, Section 13.2, § 15, Nr. 45, No. 99", "15. fifteenth item", "(14) item", "[15] and [13, 14] and [15–18]",
		"Version 2.31, v2.3.1, 1.2.3, Go 1.2.3, 192.168.14.15", "CO2, GPT-4, COVID-19, H2O, A380, Q3, 7f3a9c, img-7k3m9q2x, F-150, B2B, SKU-00123", "see https://example.org/2024/12345?x=99 and a.b+99@example.org",
		"sales_2023.csv, 2023-sales.csv, data/2020/report-45.pdf, iowa electricity 2001.csv", "ZIP 01234, 007", "doi:10.1000/18245 10.1000/18245", "#15 #1234", "week 34, KW 34, ISO 9001", "2. Quartal", "13.2 Results of the study",
		"${media:img-12345678}", "0 to 10", "5G, 3D", "2024", "(2024)", "in the year 2035", "1:30", "x-atelier-media:img-00000000", "2024-W12, 2024-03", "2024-Q3", "(March 2024)", "le 5 mai 2024", "3. Mai", "mayo de 2024", "on\u00a0March\u00a015, 2024", "Figures 14 and 15", "pages 120–135",
	} {
		if got := claimedNumbers(text); got != "" {
			t.Errorf("%q: got %q", text, got)
		}
	}
}

func TestSentences(t *testing.T) {
	t.Parallel()
	text := "It rose to 3.5 ca. Mitte März. Then 4.5! „Was?“ Ende (approx. 5 Mio. Euro). e.g. this"
	var got []string
	from := 0
	for _, end := range evidence.Sentences(text) {
		got = append(got, text[from:end])
		from = end
	}
	want := []string{"It rose to 3.5 ca. Mitte März. ", "Then 4.5! ", "„Was?“ ", "Ende (approx. 5 Mio. Euro). e.g. this"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func FuzzScan(f *testing.F) {
	for _, s := range []string{"1,234.5 %", "٣٤٥", "1.2.3", "March 1,", "-5 €", "\x00\xff12", "1 234", "[12]", "9e999", "1e99999999", "0.5e-300", "１", "𝟗𝟘"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		last := 0
		var s evidence.Set
		s.AddText("x", text)
		for _, n := range evidence.Scan(text) {
			if n.Start < last || n.End <= n.Start || n.End > len(text) {
				t.Fatalf("%q: number at %d to %d after %d", text, n.Start, n.End, last)
			}
			if utf8.ValidString(text) && !utf8.ValidString(text[n.Start:n.End]) {
				t.Fatalf("%q: cut inside a character: %q", text, text[n.Start:n.End])
			}
			last = n.End
			if v := s.Trace(n); n.NeedsSource() && v.Support != evidence.Held {
				t.Fatalf("%q: the text itself does not hold %q", text, n.Text)
			}
		}
		ends := evidence.Sentences(text)
		if ends[len(ends)-1] != len(text) {
			t.Fatalf("%q: sentences end at %v", text, ends)
		}
	})
}
