package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

var update = flag.Bool("update", false, "write docs/reference.md")

const referenceFile = "../../docs/reference.md"

// TestReference: docs/reference.md equals what --help prints.
func TestReference(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("# Reference\n\nWhat `--help` prints, command by command. `make generate` writes this file; a test compares it.\n")
	for _, c := range commandPaths(t) {
		var out bytes.Buffer
		w := &world{ctx: t.Context(), stdout: &out, stderr: &out, env: func(string) string { return "" }}
		if code := execute(w, append(strings.Fields(c), "--help")); code != exitOK {
			t.Fatalf("%s --help: exit %d", c, code)
		}
		fmt.Fprintf(&b, "\n## atelier %s\n\n```\n%s\n```\n", c, strings.TrimSpace(out.String()))
	}
	if *update {
		if err := os.WriteFile(referenceFile, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if have := mustRead(t, referenceFile); have != b.String() {
		t.Error("docs/reference.md is not what --help prints: run make generate")
	}
}

// commandPaths returns the path of every executable command, such as "media list".
func commandPaths(t *testing.T) []string {
	t.Helper()
	parser, err := kong.New(&commandLine{}, kong.Name("atelier"))
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	var walk func(n *kong.Node, path string)
	walk = func(n *kong.Node, path string) {
		for _, c := range n.Children {
			name := strings.TrimSpace(path + " " + c.Name)
			if c.Leaf() {
				paths = append(paths, name)
			}
			walk(c, name)
		}
	}
	walk(parser.Model.Node, "")
	if len(paths) < 12 {
		t.Fatalf("only %d commands: %v", len(paths), paths)
	}
	return paths
}

// TestExitCodesAreDocumented: docs/configuration.md lists the exit codes.
func TestExitCodesAreDocumented(t *testing.T) {
	t.Parallel()
	doc := mustRead(t, "../../docs/configuration.md")
	row := regexp.MustCompile(`(?m)^\| (\d+) \| `)
	documented := map[int]bool{}
	for _, m := range row.FindAllStringSubmatch(doc, -1) {
		n, err := strconv.Atoi(m[1])
		if err != nil {
			t.Fatal(err)
		}
		documented[n] = true
	}
	for _, code := range []int{exitOK, exitInternal, exitInput, exitProvider, exitPaused, exitBudget, exitRunning, exitInterrupted} {
		if !documented[code] {
			t.Errorf("docs/configuration.md does not name exit code %d", code)
		}
	}
}
