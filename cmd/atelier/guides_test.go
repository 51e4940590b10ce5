package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"atelier/internal/shipped"

	"atelier/action"
	"atelier/agent/definition"
	"atelier/agent/definition/definitiontest"
)

// generatedPart matches the text between the markers of a guide.
var generatedPart = regexp.MustCompile(`(?s)<!-- generated: ([^>]+) -->\n.*?<!-- end -->`)

// TestGuides: the generated parts of docs/actions.md and docs/agents.md equal the metadata of actions and agents and
// the runnable examples.
func TestGuides(t *testing.T) {
	t.Parallel()
	for name, parts := range map[string]int{"actions.md": 2, "agents.md": 7} {
		file := filepath.Join("..", "..", "docs", name)
		have := mustRead(t, file)
		found := 0
		want := generatedPart.ReplaceAllStringFunc(have, func(part string) string {
			found++
			title := generatedPart.FindStringSubmatch(part)[1]
			return "<!-- generated: " + title + " -->\n" + generatedText(t, title) + "<!-- end -->"
		})
		if found != parts {
			t.Errorf("%s has %d generated parts, want %d", name, found, parts)
		}
		if *update {
			if err := os.WriteFile(file, []byte(want), 0o600); err != nil {
				t.Fatal(err)
			}
		} else if have != want {
			t.Errorf("docs/%s differs from the code: run make generate", name)
		}
	}
}

// generatedText returns one part.
func generatedText(t *testing.T, title string) string {
	t.Helper()
	switch words := strings.Fields(title); words[0] {
	case "actions":
		return actionsText()
	case "agents":
		return agentsText(t)
	case "keys":
		rows := [][]string{}
		for _, k := range definitiontest.Keys() {
			rows = append(rows, []string{"`" + k.Path + "`", k.Type, k.Default, k.Description})
		}
		return markdownTable([]string{"key", "value", "default", "meaning"}, rows)
	case "example":
		return exampleText(t, words[1], words[2])
	}
	t.Fatalf("no part is called %q", title)
	return ""
}

func actionsText() string {
	var b strings.Builder
	for _, f := range shipped.Families() {
		fmt.Fprintf(&b, "### %s\n\n%s\n\n", f.Name, f.Note)
		for _, a := range f.Actions {
			fmt.Fprintf(&b, "#### %s\n\n%s\n\n", a.Name, a.Description)
			var in, out [][]string
			for _, p := range a.Params {
				in = append(in, []string{"`" + p.Name + "`", p.Type, defaultText(p), p.Description + valuesText(p)})
			}
			for _, p := range a.Outputs {
				out = append(out, []string{"`" + p.Name + "`", p.Type, p.Description})
			}
			if len(in) > 0 {
				b.WriteString(markdownTable([]string{"parameter", "type", "default", "what it is"}, in) + "\n")
			}
			b.WriteString(markdownTable([]string{"output", "type", "what it is"}, out) + "\n")
		}
	}
	return strings.TrimSpace(b.String()) + "\n"
}

func defaultText(p action.ParamDescription) string {
	switch {
	case p.Required:
		return "**required**"
	case p.Default == nil:
		return ""
	}
	return fmt.Sprintf("`%v`", p.Default)
}

func valuesText(p action.ParamDescription) string {
	if len(p.Values) == 0 {
		return ""
	}
	return " One of `" + strings.Join(p.Values, "`, `") + "`."
}

func agentsText(t *testing.T) string {
	t.Helper()
	defs, err := shipped.Definitions("")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, d := range defs.All() {
		fmt.Fprintf(&b, "### %s (`%s`)\n\n%s\n\n", d.Name, d.Slug, d.Description)
		line := func(what string, items []string) {
			if len(items) > 0 {
				fmt.Fprintf(&b, "- %s: %s\n", what, strings.Join(items, ", "))
			}
		}
		var acts, subs []string
		for _, a := range d.Actions {
			acts = append(acts, a.Name+strings.Replace(expiryText(a), ": ", " (", 1)+closing(expiryText(a)))
		}
		for _, a := range d.Agents {
			subs = append(subs, "`"+a.Slug+"`"+strings.Replace(subAgentText(a, ""), ": ", " (", 1)+closing(subAgentText(a, "")))
		}
		line("Requires", d.Requires)
		line("Prefers", append(append([]string{}, d.ChatModels...), d.ImageModels...))
		line("Actions", acts)
		line("Sub-agents", subs)
		line("Turns", []string{itoa(d.Turns)})
		b.WriteString("\n")
	}
	return strings.TrimSpace(b.String()) + "\n"
}

// closing returns the bracket that closes what Replace opened.
func closing(s string) string {
	if s == "" {
		return ""
	}
	return ")"
}

func markdownTable(head []string, rows [][]string) string {
	var b strings.Builder
	write := func(cells []string) {
		for i, c := range cells {
			cells[i] = strings.ReplaceAll(strings.ReplaceAll(c, "|", `\|`), "\n", " ")
		}
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	write(head)
	b.WriteString(strings.Repeat("| --- ", len(head)) + "|\n")
	for _, r := range rows {
		write(r)
	}
	return b.String()
}

// exampleText returns the body of an example function, which the tests of its package run.
func exampleText(t *testing.T, room, name string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", room, "example*_test.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has no examples: %v", room, err)
	}
	for _, file := range files {
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Name.Name != name {
				continue
			}
			text := mustRead(t, file)
			body := text[fset.Position(fn.Body.Lbrace).Offset+1 : fset.Position(fn.Body.Rbrace).Offset]
			formatted, err := format.Source([]byte(strings.TrimSpace(body)))
			if err != nil {
				t.Fatal(err)
			}
			return "```go\n" + strings.TrimSpace(string(formatted)) + "\n```\n"
		}
	}
	t.Fatalf("%s has no example %s", room, name)
	return ""
}

// TestGuidesWork: every definition in the guides loads, and every JSON is valid.
func TestGuidesWork(t *testing.T) {
	t.Parallel()
	block := regexp.MustCompile("(?ms)^```(yaml|json)\n(.*?)^```$")
	found := 0
	for _, name := range []string{"actions.md", "agents.md"} {
		for _, m := range block.FindAllStringSubmatch(mustRead(t, filepath.Join("..", "..", "docs", name)), -1) {
			found++
			if m[1] == "json" {
				if !json.Valid([]byte(m[2])) {
					t.Errorf("docs/%s shows JSON that is none:\n%s", name, m[2])
				}
				continue
			}
			slug := regexp.MustCompile(`slug: (\S+)`).FindStringSubmatch(m[2])
			files := fstest.MapFS{"shown.yaml": {Data: []byte(m[2])}, slug[1] + ".md": {Data: []byte("A prompt.")}}
			if _, problems := definition.Check(shipped.Catalogue(), shipped.Agents(), definition.Folder{Name: name, Files: files}); len(problems) > 0 {
				t.Errorf("docs/%s shows a definition that is not valid: %v", name, problems)
			}
		}
	}
	if found < 3 {
		t.Errorf("found %d blocks", found)
	}
}
