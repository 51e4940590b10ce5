// Command gallery draws every sample in its folder with the action that the sample
// names, and writes one page that shows them in light and dark mode. If the action refuses
// a sample, the page shows the refusal. `make gallery` runs it.
package main

import (
	"context"
	"embed"
	"encoding/json"
	"flag"
	"fmt"
	"html"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"atelier/action"
	"atelier/action/visual"
)

//go:embed samples
var samples embed.FS

// sample is one call of an action.
type sample struct {
	Action string         `json:"action"`
	Note   string         `json:"note"`
	Params map[string]any `json:"params"`
	name   string
}

func main() {
	out := flag.String("out", "gallery", "folder to write to")
	flag.Parse()
	if err := write(context.Background(), *out); err != nil {
		slog.Error("the gallery was not written", "error", err)
		os.Exit(1)
	}
}

func actions() map[string]action.Action {
	all := map[string]action.Action{}
	for _, a := range visual.Actions() {
		all[a.Name] = a
	}
	return all
}

// read loads the samples in the order of their file names.
func read() ([]sample, error) {
	files, err := fs.Glob(samples, "samples/*.json")
	if err != nil {
		return nil, err
	}
	var out []sample
	for _, f := range files {
		b, err := fs.ReadFile(samples, f)
		if err != nil {
			return nil, err
		}
		s := sample{name: strings.TrimSuffix(filepath.Base(f), ".json")}
		if err := json.Unmarshal(b, &s); err != nil {
			return nil, fmt.Errorf("read %s: %w", f, err)
		}
		out = append(out, s)
	}
	return append(out, grown()...), nil
}

// draw runs one sample and returns the file, or why there is none.
func draw(ctx context.Context, acts map[string]action.Action, s sample) (data []byte, alt string, err error) {
	a, ok := acts[s.Action]
	if !ok {
		return nil, "", fmt.Errorf("sample %s names the unknown action %q", s.name, s.Action)
	}
	res, err := a.Run(ctx, &action.Call{Params: s.Params})
	if err != nil {
		return nil, "", err
	}
	for _, p := range a.Params {
		if item, is := res.Outputs[p.Name].(map[string]any); is && p.ValueType == action.Binary {
			data, _ = item["data"].([]byte) // drawing actions return bytes
			alt, _ = item["description"].(string)
			return data, alt, nil
		}
	}
	return nil, "", fmt.Errorf("%s gave no picture", s.Action)
}

func write(ctx context.Context, dir string) error {
	list, err := read()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	f, err := os.Create(filepath.Clean(filepath.Join(dir, "index.html")))
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // a second close after the checked one does no harm
	if _, err := io.WriteString(f, head); err != nil {
		return err
	}
	acts := actions()
	for _, s := range list {
		data, alt, err := draw(ctx, acts, s)
		body := `<p class="no">` + html.EscapeString(fmt.Sprint(err)) + `</p>`
		if err == nil {
			if err := os.WriteFile(filepath.Clean(filepath.Join(dir, s.name+".svg")), data, 0o600); err != nil {
				return err
			}
			img := fmt.Sprintf(`<img src="%s.svg" alt="%s">`, s.name, html.EscapeString(alt))
			body = `<div class="pair"><div class="light">` + img + `</div><div class="dark">` + img + `</div></div>`
		}
		if _, err := fmt.Fprintf(f, "<section id=%q><h2>%s <small>%s</small></h2><p>%s</p>%s</section>\n", s.name, html.EscapeString(s.Action), s.name, html.EscapeString(s.Note), body); err != nil {
			return err
		}
	}
	return f.Close()
}

const head = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Gallery of visual actions</title>
<style>body{font:15px/1.5 system-ui,sans-serif;margin:24px;color:#1a212b;background:#f2f4f7}h2{font-size:17px;margin:32px 0 0}h2 small{font-weight:400;color:#56606e}p{margin:2px 0 10px;color:#56606e}.no{color:#a02020}
.pair{display:grid;grid-template-columns:1fr 1fr;gap:16px;align-items:start}.pair>div{padding:12px;border-radius:10px}.light{color-scheme:light;background:#fff}.dark{color-scheme:dark;background:#14181f}img{max-width:100%;height:auto}
@media(max-width:900px){.pair{grid-template-columns:1fr}}</style>
<h1>Gallery of visual actions</h1>
`
