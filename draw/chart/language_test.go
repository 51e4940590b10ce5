package chart

import (
	"strings"
	"testing"

	"atelier/draw/svg"
)

// TestGermanCharts checks for German numbers, dates and words, in the drawing and in its description.
func TestGermanCharts(t *testing.T) {
	t.Parallel()
	for params, want := range map[string][]string{
		`{"ChartType":"bar","Title":"T","Language":"de","Labels":["a","b"],"Series":[{"name":"s","values":[462529.39,1234.5]}],"Unit":"€","Source":"u.csv"}`: {
			"462.529\u00a0€", "500\u00a0Tsd.\u00a0€", "Quelle: u.csv", "Balkendiagramm: T. s: am niedrigsten 1.234,5\u00a0€ (b), am höchsten 462.529\u00a0€ (a).",
		},
		`{"ChartType":"line","Title":"T","Language":"de-AT","Labels":["2024-01-01","2024-03-15","2024-12-31"],"Series":[{"name":"s","values":[1.5,2,4]}]}`: {
			"Liniendiagramm", "; von 1,5 (1. Jan 2024) auf 4 (31. Dez 2024) (+167\u00a0%)", ">Okt 2024", "1,5",
		},
		`{"ChartType":"pie","Title":"T","Language":"de","Labels":["a","b","c","d","e","f","g","h","i","j"],"Series":[{"name":"s","values":[1,2,3,4,5,6,7,8,9,10]}]}`: {
			"3 weitere", "Die 3 kleinsten von 10 Teilen sind zusammengefasst.",
		},
		`{"ChartType":"donut","Title":"T","Language":"de","Labels":["a","b"],"Series":[{"name":"s","values":[1,2]}],"Unit":"TWh"}`: {"33,3\u00a0%", "TWh insgesamt", "Von 3 TWh insgesamt"},
	} {
		data, alt := render(parsed(t, params))
		for _, w := range want {
			if !strings.Contains(string(data), w) && !strings.Contains(alt, w) {
				t.Errorf("%q is not in\n%s\n%s", w, alt, data)
			}
		}
		for _, english := range []string{"Source:", "chart", "lowest", "total", "others", "combined"} {
			if strings.Contains(string(data)+alt, english) {
				t.Errorf("%q is in %s", english, data)
			}
		}
	}
}

// TestLocal checks that numbers and dates are written in German and other text is unchanged.
func TestLocal(t *testing.T) {
	t.Parallel()
	c := locale(svg.German)
	for text, want := range map[string]string{
		"−€1,234.5": "−1.234,5\u00a0€", "$5": "5\u00a0$", "100k": "100\u00a0Tsd.", "€2.5M": "2,5\u00a0Mio.\u00a0€", "12.5%": "12,5\u00a0%", "<0.1%": "<0,1\u00a0%",
		" (−99.8%)": " (−99,8\u00a0%)", "3,000 GWh": "3.000 GWh", "1.99 × 10³⁰": "1,99 × 10³⁰", "2020": "2020", "Mar 2024": "Mär 2024", "3 Oct 2024": "3. Okt 2024", "North": "North", "": "",
	} {
		if got := c.local(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
