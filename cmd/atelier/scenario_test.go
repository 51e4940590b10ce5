package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/html"

	"atelier/chat/chattest"
)

// The tasks of the three reports that every build must write well.
const (
	energyTask       = "Create a research report about renewable energy trends. Include an AI-generated illustration showing solar panels and wind turbines."
	marketTask       = "Create a market analysis report with a bar chart of market share and an AI-generated infographic of the industry ecosystem."
	architectureTask = "Create a report on sustainable architecture with 2-3 AI-generated illustrations of eco-friendly buildings."
)

// scenario is one report: its task, its files, and what it must contain.
type scenario struct {
	task  string
	files map[string]string
	// drawings and pictures are how many figures of each kind the report shows.
	drawings, pictures int
	has, hasNot        []string
}

func (s scenario) folder(p *testEnv) []string {
	if len(s.files) == 0 {
		return nil
	}
	for name, content := range s.files {
		p.write("files/"+name, content)
	}
	return []string{"--files", filepath.Join(p.dir, "files")}
}

// TestScenariosOffline writes the reports without a key, with and without sources. They contain nothing that no source
// states, and say what they lack.
func TestScenariosOffline(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]scenario{
		"energy": {
			task: energyTask, pictures: 1,
			has:    []string{"<h1>Renewable energy trends</h1>", "Offline, this question cannot be answered", "solar panels and wind turbines"},
			hasNot: []string{"data:image/svg"},
		},
		"energy from files": {
			task: "How did solar develop over time? Include an AI-generated illustration showing solar panels and wind turbines.", pictures: 1, drawings: 1,
			files: map[string]string{"renewable-energy.csv": "year,solar,wind\n2020,10,40\n2021,15,44\n2022,22,50\n2023,33,53\n", "notes.md": "# Trends\n\nSolar energy grew faster than any other renewable source of energy in 2023. Wind farms waited for connections to the grid.\n"},
			has:   []string{"from 10 in 2020 to 33 in 2023", "renewable-energy.csv"}, hasNot: []string{"Not answered"},
		},
		"market": {
			task:   marketTask,
			has:    []string{"<h1>Market analysis", "Offline, this question cannot be answered"},
			hasNot: []string{"Figure 1", "data:image/png"},
		},
		"market from a file": {
			task: marketTask, drawings: 2,
			files:  map[string]string{"market-share.csv": "company,share\nAster,31.5\nBolt,24.2\nCascade,18.9\nDynamo,12.4\nEvergreen,8\nOthers,5\n"},
			has:    []string{"Aster: 31.5; Bolt: 24.2", "Infographic: "},
			hasNot: []string{"Not answered"},
		},
		"market from the task": {
			task: "Create a market analysis report with an infographic of the industry ecosystem and a bar chart of market share: Aster 40 %, Bolt 35 %, Cascade 25 %.", drawings: 2,
			has: []string{"Market share: Aster 40\u00a0%", "(the task)"}, hasNot: []string{"Not answered"},
		},
		"architecture": {
			task: architectureTask, pictures: 3,
			has: []string{"<h1>Sustainable architecture</h1>", "eco-friendly buildings in the morning", "eco-friendly buildings in the evening", "eco-friendly buildings by day"},
		},
		"architecture from files": {
			task: architectureTask, pictures: 3,
			files: map[string]string{"notes.md": "# Sustainable architecture\n\nGreen roofs hold back rain and cool the rooms below them in summer. Timber stores carbon for as long as the building stands.\n"},
			has:   []string{"Timber stores carbon"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newTestEnv(t)
			s.check(t, p, append([]string{"run", "research-agent", s.task}, s.folder(p)...))
		})
	}
}

// check runs a scenario and checks its report and its rows.
func (s scenario) check(t *testing.T, p *testEnv, args []string) {
	t.Helper()
	out := filepath.Join(p.dir, "out")
	ans := read[answer](p, append(args, "--out", out, "--json")...)
	if ans.Status != "succeeded" || ans.Report == "" {
		t.Fatalf("%+v", ans)
	}
	page := mustRead(t, ans.Report)
	drawings, pictures := figuresOf(t, page)
	if drawings != s.drawings || pictures != s.pictures {
		t.Errorf("%d drawings and %d pictures are shown, want %d and %d", drawings, pictures, s.drawings, s.pictures)
	}
	text := html.UnescapeString(page)
	for _, want := range s.has {
		if !strings.Contains(text, want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	for _, no := range s.hasNot {
		if strings.Contains(text, no) {
			t.Errorf("the report contains %q", no)
		}
	}
	for _, o := range ans.Outputs {
		checkWholeFile(t, p, o)
	}
	if got := p.promoted(ans.RunID); len(got) != drawings+pictures || len(ans.Outputs) != len(got) || len(slices.Compact(slices.Sorted(slices.Values(got)))) != len(got) {
		t.Errorf("the rows promoted are %q: want %d with labels of their own, as the answer's %d", got, drawings+pictures, len(ans.Outputs))
	}
}

// promoted returns the labels of the media that a run shows, read from the ledger's database.
func (p *testEnv) promoted(run string) []string {
	p.t.Helper()
	return textColumn(p.t, p.openLedger(), "SELECT label FROM agent_run_media WHERE run_id = $1 ORDER BY display_order", run)
}

var figureNumber = regexp.MustCompile(`^Figure (\d+): .{3,}`)

// figuresOf checks that a page is self-contained and that every figure has an embedded picture, an alternative text
// that equals its title, and a numbered caption. It returns the numbers of drawings and pictures.
func figuresOf(t *testing.T, page string) (drawings, pictures int) {
	t.Helper()
	if strings.Contains(page, "${media:") || strings.Contains(page, "Missing image") {
		t.Error("a placeholder is not resolved")
	}
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		switch n.Data {
		case "script", "link", "iframe", "object":
			t.Errorf("the page has a <%s>", n.Data)
		case "img":
			if src := attr(n, "src"); !strings.HasPrefix(src, "data:image/") || len(src) < 500 {
				t.Errorf("a picture is not in the page: %.60s", src)
			}
		case "figure":
			if attr(n.Parent, "class") == "gallery" {
				continue // made, but not shown by the report
			}
			img, caption := find(n, "img"), find(n, "figcaption")
			if img == nil || caption == nil {
				t.Error("a figure has no picture or no caption")
				continue
			}
			if alt := attr(img, "alt"); len(alt) < 10 || alt != attr(img, "title") {
				t.Errorf("alt %q, title %q", alt, attr(img, "title"))
			}
			if strings.HasPrefix(attr(img, "src"), "data:image/svg+xml") {
				drawings++
			} else {
				pictures++
			}
			if m := figureNumber.FindStringSubmatch(words(caption)); m == nil || m[1] != fmt.Sprint(drawings+pictures) {
				t.Errorf("figure %d has the caption %q", drawings+pictures, words(caption))
			}
		}
	}
	return drawings, pictures
}

func find(root *html.Node, name string) *html.Node {
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && n.Data == name {
			return n
		}
	}
	return nil
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func words(root *html.Node) string {
	var b strings.Builder
	for n := range root.Descendants() {
		if n.Type == html.TextNode {
			b.WriteString(n.Data)
		}
	}
	return b.String()
}

var (
	agentName = regexp.MustCompile(`"agent":\s*"([a-z-]+)"`)
	refID     = regexp.MustCompile(`"refId":"(img-[0-9a-z]{8})"`)
)

// scriptedAgents answers each agent with its own lines, one per turn. Each REF in a line is replaced by a ref of the
// last message, in order and repeatedly.
func scriptedAgents(t *testing.T, lines map[string][]string) func(chattest.Request) string {
	t.Helper()
	var mu sync.Mutex
	turn := map[string]int{}
	return func(r chattest.Request) string {
		mu.Lock()
		defer mu.Unlock()
		m := agentName.FindStringSubmatch(r.System())
		if m == nil || turn[m[1]] >= len(lines[m[1]]) {
			t.Errorf("no line for agent %q", m)
			return done(t, "I have no line.")
		}
		line := lines[m[1]][turn[m[1]]]
		turn[m[1]]++
		var refs []string
		for _, m := range refID.FindAllStringSubmatch(r.Messages[len(r.Messages)-1].Text, -1) {
			if !slices.Contains(refs, m[1]) {
				refs = append(refs, m[1])
			}
		}
		for i := 0; len(refs) > 0 && strings.Contains(line, "REF"); i++ {
			line = strings.Replace(line, "REF", refs[i%len(refs)], 1)
		}
		return line
	}
}

// figureHTML returns a figure as a language model writes it.
func figureHTML(number int, alt, caption string) string {
	return fmt.Sprintf(`<figure><img src="${media:REF}" alt="%s" title="%s"><figcaption>Figure %d: %s</figcaption></figure>`, alt, alt, number, caption)
}

// writerStep returns a writer's last step.
func writerStep(t *testing.T, title string, labels []string, body ...string) string {
	t.Helper()
	var promote []any
	for _, l := range labels {
		promote = append(promote, map[string]any{"ref": "REF", "label": l})
	}
	return step(t, map[string]any{"done": true, "message": "The report is written.", "promote": promote, "payload": map[string]any{
		"title": title, "report_html": "<h1>" + title + "</h1>" + strings.Join(body, ""),
	}})
}

// TestScenariosOverTheWire writes the reports with a scripted language model that provides all content.
func TestScenariosOverTheWire(t *testing.T) {
	t.Parallel()
	delegate := func(t *testing.T) []string {
		t.Helper()
		return []string{
			step(t, map[string]any{"reasoning": "write", "agents": []any{map[string]any{"name": "research-report-writer", "task": "Write it."}}}),
			done(t, "The report is ready."),
		}
	}
	paint := func(what, light string) map[string]any {
		return map[string]any{
			"Prompt": what + ". Flat vector illustration. " + light + ". Wide shot, calm sky above. Deep green, warm white and amber. No lettering.", "Size": "1536x1024", "Model": "gpt-image-2",
		}
	}
	for name, c := range map[string]struct {
		scenario
		prompts []string
		lines   func(t *testing.T) map[string][]string
	}{
		"energy": {
			scenario{task: energyTask, drawings: 1, pictures: 1, has: []string{"Solar overtook wind in 2023"}},
			[]string{"Solar panels and wind turbines on a hill. Flat vector illustration. Low morning sun."},
			func(t *testing.T) map[string][]string {
				t.Helper()
				return map[string][]string{"research-agent": delegate(t), "research-report-writer": {
					act(t, "Generate Image", paint("Solar panels and wind turbines on a hill", "Low morning sun"),
						"Create SVG Chart", map[string]any{"ChartType": "line", "Title": "Solar overtook wind in 2023", "Labels": []string{"2021", "2022", "2023"}, "Series": []any{map[string]any{"name": "Solar", "values": []int{10, 20, 40}}, map[string]any{"name": "Wind", "values": []int{20, 25, 30}}}}),
					writerStep(t, "Renewable energy trends", nil, figureHTML(1, "Solar panels and wind turbines at dawn", "Illustration."), "<p>Text</p>", figureHTML(2, "Solar 40, wind 30 in 2023", "Solar overtook wind in 2023.")),
				}}
			},
		},
		"market": {
			scenario{task: marketTask, drawings: 2, has: []string{"Aster leads", "The ecosystem"}},
			nil,
			func(t *testing.T) map[string][]string {
				t.Helper()
				bar := map[string]any{"ChartType": "bar", "Title": "Aster leads", "Labels": []string{"Aster", "Bolt"}, "Series": []any{map[string]any{"name": "Share", "values": []float64{60, 40}}}}
				return map[string][]string{
					"research-agent": delegate(t),
					"research-report-writer": {
						step(t, map[string]any{
							"actions": []any{map[string]any{"name": "Create SVG Chart", "params": bar}},
							"agents":  []any{map[string]any{"name": "infographic-agent", "task": "Compose it."}},
							"payload": map[string]any{"brief": map[string]any{"Title": "The ecosystem", "Sections": []any{map[string]any{"heading": "Makers", "text": "Two."}}}},
						}),
						writerStep(t, "Market analysis", nil, figureHTML(1, "Bar chart: Aster 60, Bolt 40", "Aster leads."), figureHTML(2, "Suppliers, makers, customers", "The ecosystem.")),
					},
					"infographic-agent": {
						act(t, "Create SVG Infographic", map[string]any{"Title": "The ecosystem", "Sections": []any{map[string]any{"heading": "Makers", "text": "Two of them.", "chart": bar}, map[string]any{"heading": "Customers", "items": []string{"Cities", "Farms"}}}}),
						step(t, map[string]any{"done": true, "message": "Drawn.", "payload": map[string]any{"title": "The ecosystem", "figure": "${media:REF}", "alt": "Suppliers, makers, customers"}}),
					},
				}
			},
		},
		"architecture": {
			scenario{task: architectureTask, pictures: 3, has: []string{"Roof garden", "Timber house"}},
			[]string{"A timber house.", "A tower with gardens.", "A school under a green roof."},
			func(t *testing.T) map[string][]string {
				t.Helper()
				return map[string][]string{"research-agent": delegate(t), "research-report-writer": {
					act(t, "Generate Image", paint("A timber house", "Morning light"), "Generate Image", paint("A tower with gardens", "Evening light"), "Generate Image", paint("A school under a green roof", "Overcast light")),
					writerStep(t, "Sustainable architecture", []string{"House", "Tower", "School"}, figureHTML(1, "A timber house in a wood", "Timber house. Illustration."), figureHTML(2, "A tower with gardens", "Tower. Illustration."), figureHTML(3, "A school under a green roof", "Roof garden. Illustration.")),
				}}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, s := connected(t)
			s.chat.Answer = scriptedAgents(t, c.lines(t))
			c.check(t, p, []string{"run", "research-agent", c.task})
			var sent []string
			for _, call := range s.images.Captured() {
				sent = append(sent, string(call.Body))
			}
			slices.Sort(sent)
			if len(sent) != len(c.prompts) {
				t.Errorf("%d pictures were paid for, want %d", len(sent), len(c.prompts))
			}
			for _, want := range c.prompts {
				if !slices.ContainsFunc(sent, func(b string) bool { return strings.Contains(b, want) }) {
					t.Errorf("no prompt contains %q: %q", want, sent)
				}
			}
		})
	}
}
