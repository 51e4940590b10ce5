package chart

import (
	"fmt"
	"regexp"
	"strings"

	"atelier/draw/svg"
)

// locale is the language of a chart's own words and numbers: en or svg.German.
type locale string

// words are what a chart and its description say themselves, in one language.
type words struct {
	kinds                                  map[kind]string
	total, inTotal                         string
	parts, more, none, points, one, span   string
	fromTo                                 string
	everyPoint, thinned, largest, averaged string
	nth                                    func(n int) string
}

func english() words {
	return words{
		kinds: map[kind]string{
			kindBar: "Bar chart", kindLine: "Line chart", kindArea: "Area chart", kindPie: "Pie chart", kindDonut: "Donut chart",
			kindScatter: "Scatter plot", kindStacked: "Stacked bar chart",
		},
		total: "total", inTotal: "%s in total",
		parts: " Of %s in total: %s.", more: " And %d more series: %s.", none: " %sno values.",
		points: " %s%d points, x from %s to %s, y from %s to %s.", one: " %s%s at %s.", span: " %slowest %s (%s), highest %s (%s)",
		fromTo:     "; from %s in %s to %s in %s%s",
		everyPoint: "Every %s point of %s is drawn.", thinned: "Downsampled from %s to %s points a series; peaks are kept.",
		largest: "Shows the %d largest of %s categories.", averaged: "Downsampled: each bar is the mean of %d neighbouring values of %s.",
		nth: ordinal,
	}
}

func german() words {
	return words{
		kinds: map[kind]string{
			kindBar: "Balkendiagramm", kindLine: "Liniendiagramm", kindArea: "Flächendiagramm", kindPie: "Kreisdiagramm", kindDonut: "Ringdiagramm",
			kindScatter: "Streudiagramm", kindStacked: "Gestapeltes Balkendiagramm",
		},
		total: "insgesamt", inTotal: "%s insgesamt",
		parts: " Von %s insgesamt: %s.", more: " Und %d weitere Reihen: %s.", none: " %skeine Werte.",
		points: " %s%d Punkte, x von %s bis %s, y von %s bis %s.", one: " %s%s bei %s.", span: " %sam niedrigsten %s (%s), am höchsten %s (%s)",
		fromTo:     "; von %s (%s) auf %s (%s)%s",
		everyPoint: "Gezeichnet ist jeder %s Punkt von %s.", thinned: "Ausgedünnt von %s auf %s Punkte je Reihe; die Spitzen bleiben.",
		largest: "Gezeigt sind die %d größten von %s Kategorien.", averaged: "Zusammengefasst: Jeder Balken ist der Mittelwert von %d benachbarten Werten von %s.",
		nth: func(n int) string { return fmt.Sprintf("%d.", n) },
	}
}

func (l locale) words() words {
	if l == svg.German {
		return german()
	}
	return english()
}

// amount writes a value with its unit in the chart's language.
func (l locale) amount(v float64, unit string) string { return l.local(withUnit(grouped(v), unit)) }

// translate writes ticks in the chart's language.
func (l locale) translate(ticks []tick) {
	for i := range ticks {
		ticks[i].text = l.local(ticks[i].text)
	}
}

var (
	// written is a number as English charts write it: −€1,234.5k, <0.1%, 12 GWh, (+4%).
	written = regexp.MustCompile(`^( ?\()?([−+<]?)(US\$|[$€£¥])?([0-9][0-9,.]*)([kMBT])?((?: × 10\S+)?)(%?)(\)| .*)?$`)
	dated   = regexp.MustCompile(`^([0-9]{1,2} )?(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\b(.*)$`)
)

// local writes a number or a date, which come as English charts have them, in the chart's
// language: 1.234,5 Tsd. €, 12 %, 3. Okt 2024. Other text stays.
func (l locale) local(text string) string {
	if l != svg.German {
		return text
	}
	if m := dated.FindStringSubmatch(text); m != nil {
		month := m[2]
		for english, german := range map[string]string{"Mar": "Mär", "May": "Mai", "Oct": "Okt", "Dec": "Dez"} {
			if month == english {
				month = german
			}
		}
		return strings.Replace(m[1], " ", ". ", 1) + month + m[3]
	}
	m := written.FindStringSubmatch(text)
	if m == nil {
		return text
	}
	out := m[1] + m[2] + strings.NewReplacer(",", ".", ".", ",").Replace(m[4]) + m[6]
	if m[5] != "" {
		out += "\u00a0" + map[string]string{"k": "Tsd.", "M": "Mio.", "B": "Mrd.", "T": "Bio."}[m[5]]
	}
	for _, unit := range []string{m[3], m[7]} {
		if unit != "" {
			out += "\u00a0" + unit
		}
	}
	return out + m[8]
}
