package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"atelier/chat/chattest"
)

// TestCanaryThroughDrawings: no canary leaks from any text of a drawing: titles, names, labels, sources, words and
// Mermaid.
func TestCanaryThroughDrawings(t *testing.T) {
	t.Parallel()
	small, big := newCanaries(t, 90)
	for name, c := range map[string]canary{"small": small, "big": big} {
		for form, text := range map[string]string{"url": c.url(), "base64": c.base64()} {
			t.Run(name+" "+form, func(t *testing.T) {
				t.Parallel()
				p, s := connected(t)
				edges := []any{map[string]any{"from": "A", "to": "see " + text, "label": text}}
				page := func(more map[string]any) map[string]any {
					more["Title"], more["Subtitle"], more["Source"], more["AltText"] = "T "+text, text, text, "alt "+text
					return more
				}
				composed := page(map[string]any{"Figures": []any{map[string]any{"value": text, "label": text}}, "Sections": []any{map[string]any{"heading": text, "text": text, "items": []any{text, map[string]any{"label": text, "value": 3}}}}})
				writer := []string{
					step(t, map[string]any{
						"actions": []any{
							map[string]any{"name": "Create SVG Diagram", "params": page(map[string]any{"Edges": edges, "Nodes": []any{map[string]any{"id": text, "note": text, "group": text}}})},
							map[string]any{"name": "Create SVG Network", "params": page(map[string]any{"Edges": edges})},
							map[string]any{"name": "Create SVG Sketch Diagram", "params": page(map[string]any{"Edges": "A -> " + text})},
							map[string]any{"name": "Create SVG Word Cloud", "params": page(map[string]any{"Text": strings.Repeat("harbour boats "+text+" ", 3)})},
							map[string]any{"name": "Create Mermaid Diagram", "params": page(map[string]any{"Code": "flowchart TD\n a[\"" + text + "\"] --> b\n"})},
							map[string]any{"name": "Create Mermaid Diagram", "params": page(map[string]any{"Code": "no such diagram " + text})},
							map[string]any{"name": "Create SVG Chart", "params": map[string]any{"ChartType": "bar", "Title": text, "Labels": []string{text, "b"}, "Series": []any{map[string]any{"name": text, "values": []int{1, 2}}}}},
							map[string]any{"name": "Create SVG Diagram", "params": map[string]any{"Title": "x", "Edges": 7, "Direction": text}},
						},
						"agents":  []any{map[string]any{"name": "infographic-agent", "task": "Draw " + text}},
						"payload": map[string]any{"brief": composed},
					}),
					done(t, "The drawings are made. "+text),
				}
				lines := scriptedAgents(t, map[string][]string{
					"research-report-writer": writer,
					"infographic-agent":      {act(t, "Create SVG Infographic", composed), done(t, "Drawn "+text)},
				})
				s.chat.Answer = func(r chattest.Request) string { return lines(r) }
				found := sinks{}
				o := p.must("run", "research-report-writer", "Draw.", "--out", filepath.Join(p.dir, "out"), "--json")
				found.add(o)
				found.gather(p)
				for _, r := range s.chat.Requests() {
					found["prompts"] = append(found["prompts"], plainPrompt(t, r)...)
				}
				if name+form == "smallbase64" {
					for _, r := range s.chat.Requests() {
						for _, m := range r.Messages {
							if c.leaks([]byte(m.Text)) != nil {
								i := strings.Index(m.Text, text[:20])
								t.Logf("LEAK %s: %s", m.Role, m.Text[max(0, i-300):min(len(m.Text), i+200)])
							}
						}
					}
				}
				found.search(t, c)
				drawn := 0
				for _, m := range p.mediaList().Items {
					if m.Type == "image/svg+xml" {
						drawn++
					}
				}
				if drawn == 0 {
					t.Error("nothing was drawn, so nothing was proved")
				}
			})
		}
	}
}

// TestCanaryInTasksOfDrawings: no canary leaks from a task that contains it as a part, a number or a word.
func TestCanaryInTasksOfDrawings(t *testing.T) {
	t.Parallel()
	small, big := newCanaries(t, 92)
	p, found := newTestEnv(t), sinks{}
	for _, c := range []canary{small, big} {
		for _, text := range []string{c.url(), c.base64()} {
			for _, task := range []string{
				"A report with a diagram of the process: plan -> " + text + " -> ship. No pictures.",
				"A report with a bar chart of " + text + ": A 4, B 5. No pictures.",
				"A report with a sketch of the steps: plan, " + text + ", ship. No pictures.",
				"An infographic of " + text + ": A 4, " + text + " 5.",
			} {
				for _, agent := range []string{"research-agent", "infographic-agent"} {
					o := p.must("run", agent, task, "--json")
					o.args = []string{"run", agent}
					found.add(o)
				}
			}
		}
	}
	found.gather(p)
	found.search(t, small, big)
}

// TestCanaryFromPDF: no canary leaks from the text of a page or from a file inside the document.
func TestCanaryFromPDF(t *testing.T) {
	t.Parallel()
	small, big := newCanaries(t, 94)
	for _, model := range []string{"offline", "wire"} {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			p, s := connected(t)
			p.env["ATELIER_IMAGE_MODEL"] = "offline"
			if model == "offline" {
				p.env["ATELIER_CHAT_MODEL"] = "offline"
			}
			p.write("files/harbour.pdf", pdfOf([]string{
				"The harbour grew by a tenth in the last year of trade.", "See " + small.base64(), "The harbour " + small.url() + " is large and deep.", big.base64(), big.url(),
			}, small.raw, big.raw))
			found := sinks{}
			for _, source := range []string{"--files", "--kb"} {
				o := p.must("run", "research-agent", "What grew by a tenth in the last year of trade? Which harbour is large and deep?", source, filepath.Join(p.dir, "files"), "--out", filepath.Join(p.dir, "out"+source), "--json")
				found.add(o)
				if page := mustRead(t, decode[answer](t, o).Report); !strings.Contains(page, "The harbour grew by a tenth") || !strings.Contains(page, "is large and deep") {
					t.Errorf("the document was not read by %s, so nothing was proved", source)
				}
			}
			found.gather(p)
			for _, r := range s.chat.Requests() {
				found["prompts"] = append(found["prompts"], plainPrompt(t, r)...)
			}
			found.search(t, small, big)
		})
	}
}

// pdfOf returns a PDF of one page with lines of text and embedded files.
func pdfOf(lines []string, files ...[]byte) string {
	var b bytes.Buffer
	var at []int
	object := func(format string, args ...any) {
		at = append(at, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n", len(at))
		fmt.Fprintf(&b, format, args...)
		b.WriteString("\nendobj\n")
	}
	var text strings.Builder
	text.WriteString("BT /F1 12 Tf 14 TL 72 720 Td\n")
	for _, l := range lines {
		fmt.Fprintf(&text, "(%s) Tj T*\n", l)
	}
	text.WriteString("ET")
	b.WriteString("%PDF-1.4\n")
	object("<< /Type /Catalog /Pages 2 0 R >>")
	object("<< /Type /Pages /Kids [3 0 R] /Count 1 >>")
	object("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>")
	object("<< /Length %d >>\nstream\n%s\nendstream", text.Len(), text.String())
	object("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>")
	for _, f := range files {
		object("<< /Type /EmbeddedFile /Length %d >>\nstream\n%s\nendstream", len(f), f)
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(at)+1)
	for _, a := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", a)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(at)+1, start)
	return b.String()
}
