package chart

import (
	"cmp"
	"regexp"
	"strings"

	"atelier/draw/svg"
)

// locale is the language of a chart's own words and numbers: en or svg.German.
type locale string

// phrases are the texts of a chart and its description, in English and in German.
var phrases = map[string][2]string{
	string(kindBar):     {"Bar chart", "Balkendiagramm"},
	string(kindLine):    {"Line chart", "Liniendiagramm"},
	string(kindArea):    {"Area chart", "Flächendiagramm"},
	string(kindPie):     {"Pie chart", "Kreisdiagramm"},
	string(kindDonut):   {"Donut chart", "Ringdiagramm"},
	string(kindScatter): {"Scatter plot", "Streudiagramm"},
	string(kindStacked): {"Stacked bar chart", "Gestapeltes Balkendiagramm"},
	"total":             {"total", "insgesamt"},
	"in total":          {"%s in total", "%s insgesamt"},
	"parts":             {" Of %s in total: %s.", " Von %s insgesamt: %s."},
	"more":              {" And %d more series: %s.", " Und %d weitere Reihen: %s."},
	"none":              {" %sno values.", " %skeine Werte."},
	"points":            {" %s%d points, x from %s to %s, y from %s to %s.", " %s%d Punkte, x von %s bis %s, y von %s bis %s."},
	"one":               {" %s%s at %s.", " %s%s bei %s."},
	"even":              {" %severy value is %s.", " %sjeder Wert ist %s."},
	"span":              {" %slowest %s (%s), highest %s (%s)", " %sam niedrigsten %s (%s), am höchsten %s (%s)"},
	"from to":           {"; from %s in %s to %s in %s%s", "; von %s (%s) auf %s (%s)%s"},
	"others":            {"%d others", "%d weitere"},
	"combined":          {"The %d smallest of %d parts are combined.", "Die %d kleinsten von %d Teilen sind zusammengefasst."},
	"every point":       {"Every %s point of %s is drawn.", "Gezeichnet ist jeder %s Punkt von %s."},
	"thinned":           {"Downsampled from %s to %s points a series; peaks are kept.", "Ausgedünnt von %s auf %s Punkte je Reihe; die Spitzen bleiben."},
	"largest":           {"Shows the %d largest of %s categories.", "Gezeigt sind die %d größten von %s Kategorien."},
	"averaged":          {"Downsampled: each bar is the mean of %d neighbouring values of %s.", "Zusammengefasst: Jeder Balken ist der Mittelwert von %d benachbarten Werten von %s."},
}

// say returns a phrase in the chart's language.
func (l locale) say(phrase string) string {
	if l == svg.German {
		return phrases[phrase][1]
	}
	return phrases[phrase][0]
}

// amount formats a value with its unit in the chart's language.
func (l locale) amount(v float64, unit string) string { return l.local(withUnit(grouped(v), unit)) }

// translate converts the labels of ticks to the chart's language.
func (l locale) translate(ticks []tick) {
	for i := range ticks {
		ticks[i].text = l.local(ticks[i].text)
	}
}

var (
	// written matches a number as English charts write it: −€1,234.5k, <0.1%, 12 GWh, (+4%).
	written = regexp.MustCompile(`^( ?\()?([−+<]?)(US\$|[$€£¥])?([0-9][0-9,.]*)([kMBT])?((?: × 10\S+)?)(%?)(\)| .*)?$`)
	dated   = regexp.MustCompile(`^([0-9]{1,2} )?(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\b(.*)$`)
)

// local converts a number or a date from its English form to the chart's language: 1.234,5 Tsd. €,
// 12 %, 3. Okt 2024. It returns other text unchanged.
func (l locale) local(text string) string {
	if l != svg.German {
		return text
	}
	if m := dated.FindStringSubmatch(text); m != nil {
		month := cmp.Or(map[string]string{"Mar": "Mär", "May": "Mai", "Oct": "Okt", "Dec": "Dez"}[m[2]], m[2])
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
