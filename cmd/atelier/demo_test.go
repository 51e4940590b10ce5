package main

import (
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// demoQuestion returns the question that `make demo` asks, read from the Makefile.
func demoQuestion(t *testing.T) string {
	t.Helper()
	m := regexp.MustCompile(`run research-agent "([^"]+)" --files examples/energy`).FindStringSubmatch(mustRead(t, filepath.Join("..", "..", "Makefile")))
	if m == nil {
		t.Fatal("the Makefile asks no question about examples/energy")
	}
	return m[1]
}

// energy returns the rows of a table of the example as text.
func energy(t *testing.T, name string) [][]string {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "examples", "energy", name))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows[1:]
}

func float(t *testing.T, s string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestDemoReport asks the demo's question offline and recomputes every number of its report from the CSV files, with
// code that shares nothing with Atelier.
func TestDemoReport(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	ans := read[answer](p, "run", "research-agent", demoQuestion(t), "--files", filepath.Join("..", "..", "examples", "energy"), "--out", filepath.Join(p.dir, "out"), "--json")
	if strings.Contains(ans.Message, "cannot be answered") {
		t.Fatalf("the demo's question is not answered in full: %s", ans.Message)
	}
	known := demoNumbers(t)
	page := mustRead(t, ans.Report)
	if drawings, pictures := figuresOf(t, page); drawings < 2 || pictures != 1 {
		t.Errorf("%d charts and %d pictures", drawings, pictures)
	}
	if strings.Contains(page, "<mark") {
		t.Error("a number is marked as unsupported")
	}
	for _, want := range []string{"3,706,227", "1931", "35,361", "21,933", "2023"} {
		if !strings.Contains(page, want) {
			t.Errorf("the report lacks %s", want)
		}
	}
	checked := 0
	for _, n := range pageNumbers(t, page) {
		checked++
		if !slices.ContainsFunc(known, func(k float64) bool { return n.equals(k) }) {
			t.Errorf("the report contains %s, which is in no table and follows from none", n.text)
		}
	}
	if checked < 100 {
		t.Errorf("only %d numbers are in the report", checked)
	}
}

// demoNumbers returns every number that the report may contain: the cells of the tables, and the answers to the
// questions, computed here.
func demoNumbers(t *testing.T) []float64 {
	t.Helper()
	var known []float64
	first, last := map[string]float64{}, map[string]float64{}
	for _, row := range energy(t, "iowa-electricity.csv") {
		year, v := float(t, row[0][:4]), float(t, row[2])
		known = append(known, year, v)
		if _, seen := first[row[1]]; !seen {
			first[row[1]] = v
		}
		last[row[1]] = v
	}
	for source, v := range first {
		known = append(known, math.Abs(100*(last[source]-v)/v))
	}
	for _, row := range energy(t, "disasters.csv") {
		known = append(known, float(t, row[1]), float(t, row[2]))
	}
	for _, row := range energy(t, "global-temp.csv") {
		known = append(known, float(t, row[0]), float(t, row[1]))
	}
	sum, count := map[string]float64{}, map[string]float64{}
	for _, row := range energy(t, "co2-concentration.csv") {
		sum[row[0][:4]] += float(t, row[1])
		count[row[0][:4]]++
	}
	old, young := sum["1959"]/count["1959"], sum["2019"]/count["2019"]
	known = append(known, old, young, young-old, 100*(young-old)/old, count["1959"], count["2019"])
	years := map[string]bool{}
	for _, row := range energy(t, "disasters.csv") {
		years[row[1]] = true
	}
	// The number of rows that the tables of the report omit, and the numbers of the figures.
	return append(known, 10, float64(len(years)), float64(len(energy(t, "global-temp.csv"))), 1, 2, 3, 4, 5)
}

// pageNumber is a number as the page writes it.
type pageNumber struct {
	text   string
	value  float64
	places int
}

// equals compares after rounding to the places that the page shows.
func (n pageNumber) equals(v float64) bool {
	scale := math.Pow10(n.places)
	return math.Abs(math.Round(math.Abs(v)*scale)/scale-n.value) < 1e-9
}

var written = regexp.MustCompile(`\d[\d,]*(?:\.\d+)?`)

// pageNumbers returns the numbers in the text of a page, without code and pictures.
func pageNumbers(t *testing.T, page string) []pageNumber {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		if n.Type == html.ElementNode && slices.Contains([]string{"code", "pre", "script", "style", "svg", "head"}, n.Data) {
			return
		}
		if n.Type == html.TextNode {
			text.WriteString(n.Data + " ")
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
	}
	walk(root)
	said := strings.ReplaceAll(strings.ReplaceAll(text.String(), "CO2", ""), "co2", "")
	var out []pageNumber
	for _, m := range written.FindAllString(said, -1) {
		plain := strings.TrimRight(strings.ReplaceAll(m, ",", ""), ".")
		_, decimals, _ := strings.Cut(plain, ".")
		out = append(out, pageNumber{text: m, value: float(t, plain), places: len(decimals)})
	}
	return out
}
