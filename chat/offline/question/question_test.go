package question_test

import (
	"database/sql"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"atelier/chat/offline/question"
	"atelier/chat/offline/question/schema"
)

// folder is a set of tables and the database that holds them.
type folder struct {
	t      *testing.T
	db     *sql.DB
	tables []schema.Table
	// most limits the rows of a result, as the size of a prompt does; 0 means no limit.
	most int
}

// load creates tables from CSV texts; a header is "name|type" or "name|type|unit".
func load(t *testing.T, texts map[string]string) *folder {
	t.Helper()
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	f := &folder{t: t, db: db}
	names := make([]string, 0, len(texts))
	for n := range texts {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		f.addTable(n, texts[n])
	}
	return f
}

func (f *folder) exec(statement string, args ...any) {
	f.t.Helper()
	if _, err := f.db.ExecContext(f.t.Context(), statement, args...); err != nil {
		f.t.Fatal(err)
	}
}

// addTable loads one table and describes it as Describe Tables does.
func (f *folder) addTable(name, text string) {
	f.t.Helper()
	rows, err := csv.NewReader(strings.NewReader(strings.TrimSpace(text))).ReadAll()
	if err != nil {
		f.t.Fatal(err)
	}
	tb := schema.Table{Name: name, Path: name + ".csv", RowCount: int64(len(rows) - 1)}
	var cols []string
	for i, h := range rows[0] {
		parts := strings.Split(h, "|")
		c := schema.Column{Name: parts[0], Type: parts[1]}
		if len(parts) > 2 {
			c.Unit = parts[2]
		}
		seen := map[string]int{}
		for _, row := range rows[1:] {
			switch v := row[i]; v {
			case "":
				c.Missing++
			case "?":
				c.Unusable++
			default:
				seen[v]++
			}
		}
		c.Distinct = int64(len(seen))
		values := make([]string, 0, len(seen))
		for v := range seen {
			values = append(values, v)
		}
		slices.Sort(values)
		if len(values) > 0 {
			c.Min, c.Max = bound(values, c.Type, true), bound(values, c.Type, false)
		}
		if c.Type == "text" {
			for _, v := range values[:min(len(values), 24)] {
				c.Values = append(c.Values, v)
			}
		}
		tb.Columns = append(tb.Columns, c)
		cols = append(cols, `"`+c.Name+`"`)
	}
	f.tables = append(f.tables, tb)
	f.exec(fmt.Sprintf(`CREATE TABLE "%s" (%s)`, name, strings.Join(cols, ", ")))
	for _, row := range rows[1:] {
		var args []any
		for i, v := range row {
			args = append(args, cell(v, tb.Columns[i].Type))
		}
		f.exec(fmt.Sprintf(`INSERT INTO "%s" VALUES (%s)`, name, strings.TrimSuffix(strings.Repeat("?,", len(row)), ",")), args...)
	}
}

func cell(v, kind string) any {
	if v == "" || v == "?" {
		return nil
	}
	switch kind {
	case "integer", "number":
		n, _ := strconv.ParseFloat(v, 64)
		if kind == "integer" {
			return int64(n)
		}
		return n
	case "boolean":
		return v == "yes"
	}
	return v
}

func bound(values []string, kind string, low bool) any {
	if kind != "integer" && kind != "number" {
		if low {
			return values[0]
		}
		return values[len(values)-1]
	}
	best, _ := strconv.ParseFloat(values[0], 64)
	for _, v := range values {
		if n, _ := strconv.ParseFloat(v, 64); n < best == low {
			best = n
		}
	}
	return best
}

// ask answers a question as the research agent does: statement by statement.
func (f *folder) ask(q string) []question.Reading {
	f.t.Helper()
	src := schema.Source{Tables: f.tables}
	for range 6 {
		readings := question.Read(q, src)
		asked := false
		for _, r := range readings {
			for _, s := range r.Statements {
				src.Results, asked = append(src.Results, f.query(s)), true
			}
		}
		if !asked {
			return readings
		}
	}
	f.t.Errorf("%q: statements without end", q)
	return nil
}

func (f *folder) query(statement string) schema.Result {
	f.t.Helper()
	rows, err := f.db.QueryContext(f.t.Context(), statement)
	if err != nil {
		f.t.Fatalf("%s\n%v", statement, err)
	}
	defer func() { _ = rows.Close() }()
	res := schema.Result{Statement: statement}
	if r := []rune(statement); len(r) > 4000 { // as the actions do
		res.Statement = string(r[:4000]) + "…"
	}
	res.Columns, _ = rows.Columns()
	for rows.Next() {
		row := make([]any, len(res.Columns))
		into := make([]any, len(row))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			f.t.Fatal(err)
		}
		for i, v := range row {
			if b, ok := v.([]byte); ok {
				row[i] = string(b)
			}
		}
		if res.RowCount++; f.most == 0 || len(res.Rows) < f.most {
			res.Rows = append(res.Rows, row)
		}
	}
	if rows.Err() != nil {
		f.t.Fatal(rows.Err())
	}
	return res
}

// answerTo returns the answers to a question, or "-" and the reason for each part that has none.
func (f *folder) answerTo(q string) string {
	f.t.Helper()
	var out []string
	for _, r := range f.ask(q) {
		if r.Answer == nil {
			out = append(out, "-"+string(r.Why))
			continue
		}
		out = append(out, strings.ReplaceAll(strings.Join(r.Answer.Sentences, " "), "\u00a0", " "))
	}
	return strings.Join(out, " / ")
}

func shop(t *testing.T) *folder {
	t.Helper()
	return load(t, map[string]string{
		"customers": "customer_id|text,name|text,city|text\nC1,Anna Weber,Berlin\nC2,Ben Novak,Paris\nC3,Carla Diaz,Berlin\n",
		"products":  "product_id|text,product_name|text,category|text,unit_price|number|€\nP1,Desk Lamp,Lighting,25\nP2,Floor Lamp,Lighting,80\nP3,Office Chair,Furniture,150.5\n",
		"orders": "order_id|integer,order_date|date,customer_id|text,product_id|text,quantity|integer,status|text\n" +
			"1,2023-01-05,C1,P1,2,shipped\n2,2023-02-10,C1,P3,1,returned\n3,2023-02-11,C2,P2,3,shipped\n4,2024-01-20,C3,P3,2,shipped\n5,2024-03-02,C1,P1,4,pending\n",
	})
}

func TestQuestionsOverJoinedTables(t *testing.T) {
	t.Parallel()
	for q, want := range map[string]string{
		"How many orders were placed in 2023?":               "3 of 5 orders match (2023).",
		"How many customers are from Berlin?":                "2 of 3 customers match (city: Berlin).",
		"How many orders came from Berlin?":                  "4 of 5 orders match (city: Berlin).",
		"What is the price of the Office Chair?":             "150.50 €",
		"Which products cost more than 50?":                  "Floor Lamp; Office Chair",
		"What is the cheapest product?":                      "Desk Lamp has the lowest unit price: 25 €.",
		"What share of orders was returned?":                 "20 %",
		"How many orders per month were placed in 2023?":     "January 2023: 1; February 2023: 2",
		"Wie viele Bestellungen gab es 2024?":                "Es sind 2 Bestellungen (2024), von insgesamt 5.",
		"How many employees work in Berlin?":                 "-unknown",
		"What was the shipping cost in 2024?":                "-unknown",
		"Why did revenue fall in 2024?":                      "-beyond",
		"How many complaints came from Berlin?":              "-unknown",
		"What is the total discount given?":                  "-unknown",
		"Which city has the most customers, and how many?":   "Berlin has the most customers: 2.",
		"How many units of the Desk Lamp were sold in 2024?": "4",
	} {
		if got := shop(t).answerTo(q); !strings.Contains(got, want) {
			t.Errorf("%s\n got %s\nwant %s", q, got, want)
		}
	}
}

// staff has people with equal first names, missing salaries, and no ages.
func staff(t *testing.T) *folder {
	t.Helper()
	return load(t, map[string]string{"employees": "EmployeeID|text,FirstName|text,LastName|text,Department|text,HireDate|date,Salary|number|€,Gender|text,Email|text\n" +
		"1,Ana,Kim,Sales,2010-03-01,50000,F,a@x\n2,Ana,Olsen,Engineering,2012-05-01,72000,F,\n3,Bob,Kim,Engineering,2019-07-01,68000,M,b@x\n4,Cem,Nagy,Sales,2019-08-01,?,M,c@x\n5,Dora,Patel,People,2021-01-01,,F,\n"})
}

func TestQuestionsAboutStaff(t *testing.T) {
	t.Parallel()
	for q, want := range map[string]string{
		"What is the average salary by department?":                 "Engineering: 70,000 €; Sales: 50,000 €",
		"Who earns the most?":                                       "Ana Olsen has the highest salary: 72,000 €.",
		"Who was hired first?":                                      "Ana Kim has the earliest hire date: 1 March 2010.",
		"How many people work in Sales?":                            "2 of 5 people match (Department: Sales).",
		"How many women work in Engineering?":                       "1 of 5",
		"How many employees have no email?":                         "2 of 5 employees match",
		"What is the total salary of Sales?":                        "1 is unusable and 1 is missing; these are left out",
		"How many employees were hired after 2015?":                 "3 of 5 employees match (after 2015).",
		"What percentage of employees are women?":                   "60 %",
		"Wie hoch ist das durchschnittliche Gehalt im Engineering?": "70.000 €",
		"What is the average bonus?":                                "-unknown",
		"What is the average age of employees?":                     "-unknown",
		"How has the hire date developed?":                          "-",
		"How many sick days did the Sales team take?":               "-unknown",
		"What is the total headcount per department?":               "-",
	} {
		if got := staff(t).answerTo(q); !strings.Contains(strings.ToLower(got), strings.ToLower(want)) {
			t.Errorf("%s\n got %s\nwant %s", q, got, want)
		}
	}
}

// TestAYearIsNoMeanOfYears: the values are those of single years, not means over several years; a column that is not a
// measure has no trend.
func TestAYearIsNoMeanOfYears(t *testing.T) {
	t.Parallel()
	f := load(t, map[string]string{
		"disasters": "Entity|text,Year|integer,Deaths|integer\nAll natural disasters,1920,3204224\nAll natural disasters,1931,3706227\nFlood,1931,3700000\nStorm,1931,6227\nAll natural disasters,1932,20\nStorm,1932,20\n",
		"stock":     "SKU|text,ZIP|text,On hand|integer\n0001,01067,5\n0002,80331,917\n",
	})
	for q, want := range map[string]string{
		"In which year did natural disasters cause the most deaths?": "Deaths were highest in 1931 (Entity: All natural disasters): 3,706,227.",
		"How many deaths did natural disasters cause in 1931?":       "3,706,227",
		"Which entity caused the most deaths?":                       "Flood has the most deaths (Entity other than All natural disasters)",
		"How have deaths developed?":                                 "from 3,204,224 in 1920 to 20 in 1932",
		"What is the trend of the stock?":                            "-",
		"What is the trend of ZIP codes?":                            "-",
		"How did the SKU grow?":                                      "-",
	} {
		if got := f.answerTo(q); !strings.Contains(strings.ToLower(got), strings.ToLower(want)) {
			t.Errorf("%s\n got %s\nwant %s", q, got, want)
		}
	}
}

// TestValuesBeyondTheDescription: values that the description does not list are found by a query.
func TestValuesBeyondTheDescription(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("Title|text,Runtime|integer|min\n")
	for i := range 60 {
		fmt.Fprintf(&b, "Film %d,%d\n", i, 80+i)
	}
	f := load(t, map[string]string{"movies": b.String()})
	for q, want := range map[string]string{
		"How long is Film 57?":               "137 min",
		"What is the longest movie?":         "Film 59 has the highest runtime: 139 min.",
		"What is the runtime of Casablanca?": "-unknown",
	} {
		if got := f.answerTo(q); !strings.Contains(strings.ToLower(got), strings.ToLower(want)) {
			t.Errorf("%s\n got %s\nwant %s", q, got, want)
		}
	}
}

func TestGermanColumnsAreAskedInBothLanguages(t *testing.T) {
	t.Parallel()
	f := load(t, map[string]string{"Verkäufe_2024": "Rechnungsnr|text,Datum|date,Kunde|text,Artikel|text,Menge|integer,Gesamtbetrag (€)|number|€,Verkäufer|text,Bezahlt|boolean\n" +
		"R-1,2024-01-05,Müller GmbH,Hammer,3,30.5,Vogel,yes\nR-2,2024-04-05,Schmidt AG,Säge,1,99,Braun,no\nR-3,2024-05-05,Müller GmbH,Hammer,2,20,Vogel,no\n"})
	for q, want := range map[string]string{
		"Wie hoch war der Gesamtumsatz 2024?":            "149,50 €",
		"Welcher Kunde hat den höchsten Umsatz?":         "Schmidt AG hat insgesamt bei Gesamtbetrag den höchsten Wert: 99 €.",
		"Wie viele Hämmer wurden verkauft?":              "5",
		"In welchem Quartal war der Umsatz am höchsten?": "Bei Gesamtbetrag liegt insgesamt der höchste Wert in Q2 2024: 119 €.",
		"What was the total revenue of Vogel?":           "50.50 €",
		"Wie hoch war der Umsatz von Hammer und Säge?":   "zusammen 149,50 €",
		"Warum ist der Umsatz gesunken?":                 "-beyond",
		"Wie hoch ist der Gewinn?":                       "-unknown",
	} {
		if got := f.answerTo(q); !strings.Contains(strings.ToLower(got), strings.ToLower(want)) {
			t.Errorf("%s\n got %s\nwant %s", q, got, want)
		}
	}
}

// TestFilesOfSeveralYears: tables whose names differ only in the year are read as one.
func TestFilesOfSeveralYears(t *testing.T) {
	t.Parallel()
	f := load(t, map[string]string{
		"stays_2021": "Hotel|text,Nights|integer\nAlpha,10\nBeta,20\n",
		"stays_2022": "Hotel|text,Nights|integer\nAlpha,15\nGamma,5\n",
	})
	for q, want := range map[string]string{
		"How many nights were there in 2022?":      "20",
		"Which hotel had the most nights in 2021?": "Beta has the most nights: 20.",
		"How many nights did Alpha have in 2021?":  "10",
		"How many nights were there in 2019?":      "-",
	} {
		if got := f.answerTo(q); !strings.Contains(strings.ToLower(got), strings.ToLower(want)) {
			t.Errorf("%s\n got %s\nwant %s", q, got, want)
		}
	}
	load(t, map[string]string{
		"stays_2021": "Month|text,Nights|integer\nJuly,10\nAugust,20\n",
		"stays_2022": "Month|text,Nights|integer\nJuly,15\nAugust,5\n",
	}).expect([]inquiry{{"Is nights higher in July or July?", "-"}})
}

func TestParts(t *testing.T) {
	t.Parallel()
	for task, want := range map[string]string{
		"Which product sold best, and how much was it? Include a chart.":                                     "Which product sold best|how much was it",
		"Please tell me how many orders we had. Add one illustration of a harbour.":                          "how many orders we had",
		"How did X change, in which year was Y highest, and which Z is best?":                                "How did X change|in which year was Y highest|which Z is best",
		"How many films did C. Moss direct?":                                                                 "How many films did C. Moss direct",
		"Create a research report about renewable energy trends. Include an AI-generated illustration.":      "renewable energy trends",
		"Wie hoch war der Umsatz am 31.12.2024 und welche Filiale war am besten? Mit einem Diagramm, bitte.": "Wie hoch war der Umsatz am 31.12.2024|welche Filiale war am besten",
	} {
		if got := strings.Join(question.Parts(task), "|"); got != want {
			t.Errorf("%q\n got %s\nwant %s", task, got, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, q := range []string{"Which month had the highest revenue?", "Wie viele Rechnungen über 1.000 € gab es im 1. Quartal 2024?", "between 10 and 20 or C. Moss, \"x y\" 3/4/2024", "%…\x00''\"; DROP TABLE", "\"", "…", "Which Kunde has the most rows, and how many are there?", "What share of A by Kunde?"} {
		f.Add(q)
	}
	tables := []schema.Table{{Name: "t", Path: "t.csv", RowCount: 3, Columns: []schema.Column{
		{Name: "Datum", Type: "date", Distinct: 3, Min: "2024-01-01", Max: "2024-03-01"},
		{Name: "Kunde", Type: "text", Distinct: 2, Values: []any{"A", "O'Neil"}},
		{Name: "Umsatz (€)", Type: "number", Distinct: 3},
		{Name: "year", Type: "integer", Min: 2020.0, Max: 2024.0, Distinct: 3},
		{Name: "", Type: "boolean"},
	}}}
	f.Fuzz(func(t *testing.T, q string) {
		if len(q) > 300 {
			return
		}
		for _, r := range question.Read(q, schema.Source{Tables: tables}) {
			if r.Answer != nil {
				t.Fatalf("%q is answered without a query", q)
			}
		}
	})
}
