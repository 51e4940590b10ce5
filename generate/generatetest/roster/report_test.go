package roster_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"atelier/internal/sim"

	"atelier/generate/catalog"
	"atelier/generate/generatetest"
	"atelier/generate/generatetest/roster"
)

var update = flag.Bool("update", false, "write docs/conformance.md")

// generateRoom is the directory of package generate.
const generateRoom = "../.."

// TestReport checks that docs/conformance.md matches what the suite plays. A cell without variants needs a reason, and
// a row without any variant is an error. With -update the whole suite runs and the file is written from what passed;
// otherwise the suites run in the drivers' packages, and this test only compares.
func TestReport(t *testing.T) { //nolint:tparallel // it waits for the run of the suite
	t.Parallel()
	columns := roster.Columns()
	cells := make([][]generatetest.Clause, len(columns))
	for i, c := range columns {
		cells[i] = generatetest.Clauses(t, c.Harness)
		if i > 0 && !slices.EqualFunc(cells[0], cells[i], func(a, b generatetest.Clause) bool { return a.Name == b.Name }) {
			t.Fatalf("%s has other rows than %s", c.Title(), columns[0].Title())
		}
	}
	for row, clause := range cells[0] {
		played := 0
		for i, c := range columns {
			cell := cells[i][row]
			played += cell.Variants
			if (cell.Variants == 0) != (cell.Absent != "") {
				t.Errorf("%s, %s: %d variants, and the reason for none is %q", clause.Name, c.Title(), cell.Variants, cell.Absent)
			}
		}
		if played == 0 {
			t.Errorf("no service plays %q", clause.Name)
		}
	}
	file := filepath.Join(generateRoom, "../docs/conformance.md")
	chats := chatPart(t, file)
	want := report(t, columns, cells) + chats
	if *update {
		want = report(t, columns, recorded(t, columns, cells)) + chats
		if err := os.WriteFile(file, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if have, err := os.ReadFile(file); err != nil || string(have) != want {
		t.Errorf("docs/conformance.md is not what the suite plays (%v): run make generate", err)
	}
}

// chatPart returns the part of the file that package chat writes.
func chatPart(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const heading = "\n## Chat providers\n"
	_, chats, ok := strings.Cut(string(b), heading)
	if !ok {
		t.Fatal("there is no table of chat providers: go test ./chat -run ChatReport -update")
	}
	return heading + chats
}

// recorded plays the suite with every column and returns the cells with the variants that passed.
func recorded(t *testing.T, columns []roster.Column, cells [][]generatetest.Clause) [][]generatetest.Clause {
	t.Helper()
	var mu sync.Mutex // guards passed
	passed := make([]map[string]int, len(columns))
	t.Run("played", func(t *testing.T) {
		for i, c := range columns {
			passed[i] = map[string]int{}
			t.Run(c.Provider+" "+c.Title(), func(t *testing.T) {
				t.Parallel()
				generatetest.Record(t, c.Harness, func(c generatetest.Clause) {
					mu.Lock()
					defer mu.Unlock()
					passed[i][c.Name]++
				})
			})
		}
	})
	out := make([][]generatetest.Clause, len(cells))
	for i, column := range cells {
		for _, c := range column {
			if n := passed[i][c.Name]; n < c.Variants {
				t.Errorf("%s, %s: %d of %d passed", columns[i].Title(), c.Name, n, c.Variants)
				c.Absent, c.Variants = fmt.Sprintf("%d of %d passed", n, c.Variants), 0
			}
			out[i] = append(out[i], c)
		}
	}
	return out
}

// report writes the table: a tick with the number of variants, or the number of a reason.
func report(t *testing.T, columns []roster.Column, cells [][]generatetest.Clause) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(`# Conformance

What the suite in ` + "`generate/generatetest`" + ` requires of every driver, tested with a simulator that speaks
the provider's protocol on loopback. A tick is a pass in the run that wrote this file; with a number, that many forms
of the same fault passed. A number in brackets is a reason below. Each request is also checked against the schema that
the provider documents (` + "`schema/api.json`" + ` beside each simulator), in which unknown fields are errors.

` + "`make generate`" + ` runs the suite and writes this file. The tests of each driver's package run it as well, and a test
compares this file with their results.
`)
	var reasons []string
	for _, fault := range []bool{false, true} {
		title := "Scenarios"
		if fault {
			title = "Faults"
		}
		b.WriteString("\n## " + title + "\n\n|  |")
		for _, c := range columns {
			b.WriteString(" " + c.Provider + "<br>" + c.Title() + "<br>" + modality(t, c) + " |")
		}
		b.WriteString("\n| --- |" + strings.Repeat(" :-: |", len(columns)) + "\n")
		for row, clause := range cells[0] {
			if clause.Fault != fault {
				continue
			}
			b.WriteString("| " + strings.ReplaceAll(clause.Name, "_", " ") + " |")
			for i := range columns {
				b.WriteString(" " + cellText(cells[i][row], &reasons) + " |")
			}
			b.WriteString("\n")
		}
	}
	b.WriteString("\n## Why a cell is empty\n\n")
	for i, reason := range reasons {
		fmt.Fprintf(&b, "%d. %s\n", i+1, reason)
	}
	return b.String()
}

// cellText returns the text of a cell and numbers a new reason.
func cellText(c generatetest.Clause, reasons *[]string) string {
	switch {
	case c.Variants == 1:
		return "✓"
	case c.Variants > 1:
		return "✓ " + strconv.Itoa(c.Variants)
	}
	i := slices.Index(*reasons, c.Absent)
	if i < 0 {
		i, *reasons = len(*reasons), append(*reasons, c.Absent)
	}
	return "[" + strconv.Itoa(i+1) + "]"
}

func modality(t *testing.T, c roster.Column) string {
	t.Helper()
	all, err := catalog.Load(strings.NewReader(c.Catalogue))
	if c.Catalogue == "" {
		all, err = catalog.Load()
	}
	if err != nil {
		t.Fatal(err)
	}
	m, ok := all.Lookup(c.Model)
	if !ok {
		t.Fatalf("there is no model %s", c.Model)
	}
	return string(m.Modality)
}

// TestEveryDriverIsHeldToIt: every provider of the catalogue has a column, and its driver's package runs the suite.
func TestEveryDriverIsHeldToIt(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(generateRoom, "catalog", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no catalogue: %v", err)
	}
	for _, file := range files {
		provider := strings.TrimSuffix(filepath.Base(file), ".yaml")
		if !slices.ContainsFunc(roster.Columns(), func(c roster.Column) bool { return c.Provider == provider }) {
			t.Errorf("%s has no column", provider)
		}
		room := provider
		if rows, err := os.ReadFile(file); err == nil && strings.Contains(string(rows), "\nendpoint:") {
			room = "openai" // its driver calls the endpoint
		}
		b, err := os.ReadFile(filepath.Join(generateRoom, "provider", room, "conformance_test.go"))
		if err != nil || !regexp.MustCompile(`roster\.Run\(t, "`+provider+`"\)`).Match(b) {
			t.Errorf("generate/provider/%s does not run the suite for %s: %v", room, provider, err)
		}
	}
}

// TestUnknownFieldsViolateTheSchema: a driver's call fits the schema; the same call with an additional field, without a
// required one, with another path or method, or without its key does not.
func TestUnknownFieldsViolateTheSchema(t *testing.T) {
	t.Parallel()
	for _, c := range roster.Columns() {
		if c.Simulator == nil {
			continue
		}
		t.Run(c.Title(), func(t *testing.T) {
			t.Parallel()
			call, service := generatetest.FirstCall(t, c.Harness)
			if err := service.Violation(call); err != nil {
				t.Fatal(err)
			}
			for name, change := range map[string]func(*sim.Captured){
				"path":   func(c *sim.Captured) { c.Path += "x" },
				"method": func(c *sim.Captured) { c.Method = "PUT" },
				"key": func(c *sim.Captured) {
					c.Header = map[string][]string{"Content-Type": c.Header["Content-Type"]}
				},
				"content type": func(c *sim.Captured) { c.Header.Set("Content-Type", "text/plain") },
				"field":        func(c *sim.Captured) { c.Body = edited(t, c.Body, func(m map[string]any) { m["zzz"] = 1 }) },
				"empty":        func(c *sim.Captured) { c.Body = []byte("{}") },
				"no JSON":      func(c *sim.Captured) { c.Body = []byte("{") },
			} {
				other := call
				other.Header = call.Header.Clone()
				change(&other)
				if service.Violation(other) == nil {
					t.Errorf("another %s is no violation", name)
				}
			}
		})
	}
}

// edited changes a JSON object.
func edited(t *testing.T, body []byte, change func(map[string]any)) []byte {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(body, &m); err != nil {
		t.Fatal(err)
	}
	change(m)
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
