package report_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"atelier/agent/evidence"
	"atelier/agent/report"
	"atelier/agent/resolve"
)

// fact is a report with a placeholder for one number, and the contents of its sources.
type fact struct {
	name string
	// html or markdown is the report; @ is replaced by the number.
	html, markdown string
	right, wrong   string
	evidence       func(s *evidence.Set)
}

func query(s *evidence.Set, outputs string) { s.AddResult("Query Tables", json.RawMessage(outputs)) }

func shopSales(s *evidence.Set) {
	query(s, `{"statement":"SELECT region, sum(revenue) FROM sales GROUP BY region","columns":["region","revenue"],"rows":[["North",48210.5],["South",39977.25],["West",120044]],"rowCount":3,"tables":[{"name":"sales","path":"sales_2023.csv"}]}`)
	query(s, `{"statement":"SELECT count(*) FROM sales","columns":["orders"],"rows":[[1874]],"rowCount":1,"tables":[{"name":"sales","path":"sales_2023.csv"}]}`)
	s.AddText(evidence.Task, "How did the regions sell in 2023? Only orders over 150 €, please.")
}

func whaleCatch(s *evidence.Set) {
	query(s, `{"statement":"SELECT year, catch FROM whales ORDER BY year","columns":["year","catch"],"rows":[[1929,2207000],[1930,3391225],[1931,3706227],[1932,1280433]],"rowCount":4,"tables":[{"name":"whales","path":"whales.csv"}]}`)
}

var facts = []fact{
	{
		name: "English prose", right: "48,210.50 €", wrong: "51,330.75 €", evidence: shopSales,
		html: `<h1>Sales by region, 2023</h1><p>In 2023 the West led with 120,044 €, about 120 thousand; the North sold @ in 12 months. Only orders over 150 € count (sales_2023.csv).</p>
<p>Figure 14 and Table 23 show it; see also <a href="https://example.org/2023/99871">page 345</a> and section 3.2. There were 1,874 orders [15].</p>`,
	},
	{
		name: "German prose", right: "120.044", wrong: "131.977", evidence: shopSales,
		html: `<h1>Umsatz nach Regionen</h1><p>Der Westen lag im Jahr 2023 mit @ € vorn, der Norden kam auf 48.210,50 €. Das sind 1.874 Bestellungen seit dem 1. März 2023; am 31.12.2023 war Schluss.</p><p>Siehe Abb. 15 und Nr. 44.</p>`,
	},
	{
		name: "French prose", right: "3 706 227", wrong: "4 118 903", evidence: whaleCatch,
		html: `<h2>Les captures</h2><p>En 1931, le maximum était de @ animaux, soit 3,7 millions. Depuis le 3 mars 1932, il n'y en a que 1 280 433.</p>`,
	},
	{
		name: "Swiss table", right: "39'977.25", wrong: "37'441.80", evidence: shopSales,
		html: `<table><caption>Umsatz 2023, Tabelle 17</caption><thead><tr><th>Rang</th><th>Region</th><th>CHF</th></tr></thead><tbody>
<tr><td>1</td><td>West</td><td>120'044.00</td></tr><tr><td>2</td><td>Nord</td><td>48'210.50</td></tr><tr><td>3</td><td>Süd</td><td>@</td></tr></tbody></table>`,
	},
	{
		name: "a table that shows a part", right: "19", wrong: "18",
		html: `<table><caption>The 19 largest</caption><tr><th>Shop</th><th>n</th></tr>` + strings.Repeat("<tr><td>Shop</td><td>304</td></tr>", 19) + `</table><p><small>The first @ of 93 rows.</small></p>`,
		evidence: func(s *evidence.Set) {
			query(s, `{"statement":"SELECT name, n FROM shops","columns":["name","n"],"rows":[["Shop",304]],"rowCount":93,"tables":[]}`)
		},
	},
	{
		name: "long table with ranks", right: "412", wrong: "577",
		html: `<table><tr><th>#</th><th>Shop</th></tr>` + rankRows(18) + `<tr><td>19</td><td>@</td></tr></table>`,
		evidence: func(s *evidence.Set) {
			var rows []string
			for i := range 18 {
				rows = append(rows, `["Shop",`+number(300+i)+`]`)
			}
			query(s, `{"statement":"SELECT name, n FROM shops","columns":["name","n"],"rows":[`+strings.Join(rows, ",")+`,["Shop",412]],"rowCount":19,"tables":[{"name":"shops","path":""}]}`)
		},
	},
	{
		name: "list in Markdown", right: "12.3 %", wrong: "17.9 %",
		markdown: "# Shares\n\n1. Wind has a share of **@**, or 0.123.\n2. Coal has 45.68 %.\n14. The fourteenth item: nothing.\n\n- solar: 7 %\n- `code 99871` is no number\n\n```\n4711 in code\n```\n",
		evidence: func(s *evidence.Set) {
			query(s, `{"statement":"SELECT kind, share FROM mix","columns":["kind","share"],"rows":[["wind",0.1234],["coal",0.45678],["solar",0.0702]],"rowCount":3,"tables":[{"name":"mix","path":"mix.csv"}]}`)
		},
	},
	{
		name: "caption", right: "2.4 million", wrong: "5.4 million", evidence: whaleCatch,
		html: `<h1>Whales</h1><figure><img src="${media:REF}" alt="Peak of 9,999,999 animals"><figcaption>Figure 1: The catch of 1931 was 3,706,227; it fell to 1.28 million, by @, a year later. Source: whales.csv.</figcaption></figure>`,
	},
	{
		name: "heading", right: "3,706,227", wrong: "2,200,000", evidence: whaleCatch,
		html: `<h1>Whaling peaked at @ animals in 1931</h1><p>The sources are whales.csv, version 2.3.1, read at 14:30 on 2024-03-01.</p>`,
	},
	{
		name: "text sources and the task", right: "4,711", wrong: "4,171",
		html: `<p>The plant has <b>@</b> panels and makes 3.2 GWh (notes.md, p. 14). The limit of 150 € comes from the task, CO<sub>2</sub> fell by 25 %, GPT-4 was not used.</p>`,
		evidence: func(s *evidence.Set) {
			s.AddText(evidence.Task, "limit 150 €")
			s.AddResult("Read File", json.RawMessage(`{"path":"notes.md","text":"4711 panels, 3.2 GWh; CO2 minus 25%"}`))
		},
	},
	{
		name: "derived numbers", right: "50 %", wrong: "63 %",
		html: `<p>Revenue rose by @, from 120 to 180, a difference of 60; that is 1.5 times as much. Together: 300.</p><blockquote>“We sold 180.”</blockquote><dl><dt>North</dt><dd>120</dd></dl>`,
		evidence: func(s *evidence.Set) {
			query(s, `{"statement":"SELECT y, v FROM t","columns":["y","v"],"rows":[[2021,120],[2022,180]],"rowCount":2,"tables":[{"name":"t","path":"t.csv"}]}`)
		},
	},
	{
		name: "Arabic", right: "٣٧٠٦٢٢٧", wrong: "٣٨٨٦٢٢٧", evidence: whaleCatch,
		html: `<p dir="rtl">بلغ الصيد @ في عام 1931.</p>`,
	},
	{
		name: "split by tags, in a summary", right: "120,<em>044</em>", wrong: "127,<em>044</em>", evidence: shopSales,
		html: `<details><summary>West: @ €, North: 48,211 €</summary><p>Both in <del>2022</del> 2023.</p></details>`,
	},
}

func number(n int) string { b, _ := json.Marshal(n); return string(b) }

func rankRows(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("<tr><td>" + number(i+1) + "</td><td>" + number(300+i) + "</td></tr>")
	}
	return b.String()
}

// page renders a fact with a number in its place.
func (f fact) page(t *testing.T, s *testStore, with string) string {
	t.Helper()
	var set evidence.Set
	f.evidence(&set)
	key, text := "report_html", f.html
	if text == "" {
		key, text = "report_markdown", f.markdown
	}
	text = strings.ReplaceAll(strings.ReplaceAll(text, "@", with), "REF", string(s.items[0].Ref))
	return s.write(t, report.Report{Payload: payload(t, map[string]string{key: text}), Evidence: &set}, resolve.ModeURL)
}

// parts lists the texts of the elements for which choose returns true.
func parts(t *testing.T, page string, choose func(n *html.Node) bool) []string {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for n := range root.Descendants() {
		if n.Type != html.ElementNode || !choose(n) {
			continue
		}
		var b strings.Builder
		for d := range n.Descendants() {
			if d.Type == html.TextNode {
				b.WriteString(d.Data)
			}
		}
		out = append(out, b.String())
	}
	return out
}

func class(n *html.Node, name string) bool {
	for _, a := range n.Attr {
		if a.Key == "class" && strings.Contains(" "+a.Val+" ", " "+name+" ") {
			return true
		}
	}
	return false
}

func marked(t *testing.T, page string) string {
	t.Helper()
	return strings.Join(parts(t, page, func(n *html.Node) bool { return class(n, "atelier-unsupported") }), "")
}

// TestFalseNumbersAreMarked puts a false number into reports of many kinds: it is marked, and nothing else is.
func TestFalseNumbersAreMarked(t *testing.T) {
	t.Parallel()
	s := newTestStore(t)
	for _, f := range facts {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			if got := marked(t, f.page(t, s, f.right)); got != "" {
				t.Errorf("the true report has a mark: %q", got)
			}
			page := f.page(t, s, f.wrong)
			digits := strings.NewReplacer("<em>", "", "</em>", "", " €", "", " %", "", " million", "").Replace(f.wrong)
			if got := marked(t, page); got != digits {
				t.Errorf("marked is %q, not %q alone", got, digits)
			}
			list := parts(t, page, func(n *html.Node) bool { return n.Data == "ul" && class(n, "atelier-unsupported-list") })
			if len(list) != 1 || strings.Count(list[0], "\n") != 2 || !strings.Contains(list[0], digits) {
				t.Errorf("the notes list %q", list)
			}
		})
	}
}

// TestOneMarkASentence: a sentence has one mark; the notes list every number.
func TestOneMarkASentence(t *testing.T) {
	t.Parallel()
	f := fact{html: `<p>It had 411, 522 and 633 parts. Then 744 came <mark>5</mark>. Nr. 45 is none.</p><ul><li>855</li><li>966</li></ul>`, evidence: func(*evidence.Set) {}}
	page := f.page(t, newTestStore(t), "")
	got := parts(t, page, func(n *html.Node) bool { return class(n, "atelier-unsupported") })
	if d := cmp.Diff([]string{"411", "744", "855", "966"}, got); d != "" {
		t.Error(d)
	}
	listed := parts(t, page, func(n *html.Node) bool { return n.Data == "strong" })
	if d := cmp.Diff([]string{"411, 522, 633", "744", "855", "966"}, listed); d != "" {
		t.Error(d)
	}
}

// TestNumbersLinkToTheirQuery: each supported number links to the query that contains it, and the section lists these
// queries with the numbers computed from them.
func TestNumbersLinkToTheirQuery(t *testing.T) {
	t.Parallel()
	s := newTestStore(t)
	f := fact{evidence: shopSales, html: `<p>There were 1,874 orders; the North sold 48,210.50 €, <a href="https://example.org">the West 120,044</a>, 8,233.25 € more than the South, in 2023.</p>`}
	page := f.page(t, s, "")
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	links := map[string]string{}
	for n := range root.Descendants() {
		if n.Data == "a" && class(n, "atelier-number") {
			for _, a := range n.Attr {
				if a.Key == "href" {
					links[n.FirstChild.Data] = a.Val
				}
			}
		}
	}
	want := map[string]string{"1,874": "#atelier-query-1", "48,210.50": "#atelier-query-2", "8,233.25": "#atelier-query-2"}
	if d := cmp.Diff(want, links); d != "" {
		t.Error(d)
	}
	for _, part := range []string{
		`<li id="atelier-query-1">sales_2023.csv`, `<pre><code>SELECT count(*) FROM sales</code></pre>`, `<li id="atelier-query-2">`,
		"8,233.25: difference, computed from 48210.5 and 39977.25", `title="Query 1: sales_2023.csv"`, `<h2>Numbers and queries</h2>`,
		`<span class="atelier-number" title="Query 2: sales_2023.csv">120,044</span>`,
	} {
		if !strings.Contains(page, part) {
			t.Errorf("the page lacks %q", part)
		}
	}
	if got := marked(t, page); got != "" {
		t.Errorf("marked: %q", got)
	}
}

// TestSectionSpeaksTheLanguageOfTheReport covers German, and English for all other languages.
func TestSectionSpeaksTheLanguageOfTheReport(t *testing.T) {
	t.Parallel()
	s := newTestStore(t)
	f := fact{evidence: shopSales, html: `<p>Der Umsatz im Westen ist 120.044 € und das sind nicht 777.111 €; die Grenze von 150 € ist aus der Aufgabe.</p>`}
	page := f.page(t, s, "")
	for _, want := range []string{`<html lang="de">`, "Zahlen und Abfragen", "Durch keine Abfrage und keine Quelle belegt:", "Weitere Zahlen stehen in: Aufgabe.", "Abfrage 1: sales_2023.csv"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	f.html = `<p>Les ventes: 120 044 €.</p>`
	if page := f.page(t, s, ""); !strings.Contains(page, "Numbers and queries") {
		t.Error("a French report has no English section")
	}
}

// TestNothingToTrace: without numbers there is no section, and without evidence no comparison.
func TestNothingToTrace(t *testing.T) {
	t.Parallel()
	s := newTestStore(t)
	f := fact{html: `<p>Three stores, 12 months, since 2019.</p>`, evidence: func(*evidence.Set) {}}
	if page := f.page(t, s, ""); strings.Contains(page, "<section class=\"atelier-numbers") || marked(t, page) != "" {
		t.Error("there is a section about nothing")
	}
	page := s.write(t, report.Report{Payload: payload(t, map[string]string{"report_html": "<p>99,999</p>"})}, resolve.ModeURL)
	if marked(t, page) != "" || strings.Contains(page, "Numbers and queries") {
		t.Error("a report without evidence is compared with it")
	}
}

// TestReportCannotVouchForItself: a report's own elements lose the names that the renderer uses, and hostile text in
// queries and numbers is text.
func TestReportCannotVouchForItself(t *testing.T) {
	t.Parallel()
	s := newTestStore(t)
	f := fact{
		html: `<p id="atelier-query-1"><a class="atelier-number" href="#atelier-query-1">99,871</a> <span class="x atelier-number">88,771</span>.
Then <img src="x" alt="77,771"><svg><text>66,771</text></svg> <script>55771</script><style>p{width:44771px}</style><p data-x="33771" title="22,771">1<!-- 11,771 -->.</p>`,
		evidence: func(s *evidence.Set) {
			query(s, `{"statement":"SELECT '</code><script>alert(1)</script>' -- ${media:img-00000000}","columns":["<b>"],"rows":[[66771]],"rowCount":1,"tables":[{"name":"<i>","path":"a\"><script>.csv"}]}`)
		},
	}
	page := f.page(t, s, "")
	if strings.Contains(page, "<script") || strings.Contains(page, `<p id="atelier`) || strings.Count(page, `href="#atelier-query-1"`) != 1 || strings.Count(page, `id="atelier-query-1"`) != 1 {
		t.Errorf("the page is wrong: %s", page[strings.Index(page, "<body>"):])
	}
	if got := marked(t, page); got != "99,87188,771" && got != "99,871" {
		t.Errorf("marked %q", got)
	}
}

// TestUnsupportedNumbersAreListed: programs get a list of the numbers that a report marks, sentence by sentence.
func TestUnsupportedNumbersAreListed(t *testing.T) {
	t.Parallel()
	var s evidence.Set
	shopSales(&s)
	payload, err := json.Marshal(map[string]string{"report_html": "<p>West sold 120,044 €. It failed in 2000 cases, of 51,330 in all.</p>"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := report.Unsupported(report.Report{Payload: payload, Evidence: &s})
	want := []report.Doubt{{Sentence: "It failed in 2000 cases, of 51,330 in all.", Numbers: []string{"2000", "51,330"}}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	if got, err := report.Unsupported(report.Report{Payload: payload}); err != nil || got != nil {
		t.Errorf("without evidence: %v %v", got, err)
	}
}

// TestUnsupportedSentenceWithPicture: a picture within a sentence is not part of the text that people see.
func TestUnsupportedSentenceWithPicture(t *testing.T) {
	t.Parallel()
	var s evidence.Set
	shopSales(&s)
	store := newTestStore(t)
	ref := store.items[0].Ref
	r := report.Report{Payload: payload(t, map[string]string{"report_html": "<p>It failed in 2000 cases " + ref.Placeholder() + " of 51,330.</p>"}), Evidence: &s}
	got, err := report.Unsupported(r)
	want := []report.Doubt{{Sentence: "It failed in 2000 cases of 51,330.", Numbers: []string{"2000", "51,330"}}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	if page := store.write(t, r, resolve.ModeURL); strings.Contains(page, "atelier-media") || strings.Contains(page, "${media:") {
		t.Errorf("a raw mark: %s", page[strings.Index(page, "<body>"):])
	}
}

// TestRowNumbersSayThatTheyAre: a first column 1, 2, 3 … needs no source if its heading is one such as #, or empty;
// under any other heading its numbers are claims.
func TestRowNumbersSayThatTheyAre(t *testing.T) {
	t.Parallel()
	var s evidence.Set
	shopSales(&s)
	for heading, want := range map[string]int{
		"<tr><th>#</th><th>Shop</th></tr>": 0, "<tr><th>Nr.</th><th>Shop</th></tr>": 0, "<tr><th>Index</th><th>Shop</th></tr>": 0, "": 0,
		"<tr><th>Staff</th><th>Shop</th></tr>": 8, "<tr><th>Stunden</th><th>Shop</th></tr>": 8,
	} {
		var rows strings.Builder
		for i := range 20 {
			rows.WriteString("<tr><td>" + number(i+1) + "</td><td>Shop</td></tr>")
		}
		payload, err := json.Marshal(map[string]string{"report_html": "<table>" + heading + rows.String() + "</table>"})
		if err != nil {
			t.Fatal(err)
		}
		got, err := report.Unsupported(report.Report{Payload: payload, Evidence: &s})
		if err != nil || len(got) != want {
			t.Errorf("%s: %v %+v, want %d", heading, err, got, want)
		}
	}
}
