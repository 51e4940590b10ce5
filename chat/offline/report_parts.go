package offline

import (
	"encoding/json"
	"fmt"
	"html"
	"path"
	"strings"
)

func (r *report) tableSection(file string, t *table) {
	r.tag("h2", heading(file, t))
	facts := insights(t)
	if len(facts) == 0 {
		facts = []string{"The table holds no numbers that could be compared."}
	}
	r.tag("p", strings.Join(facts[:min(3, len(facts))], " "))
	if len(facts) > 3 {
		r.tag("p", strings.Join(facts[3:], " "))
	}
	for _, f := range r.of(chartAction) {
		if f.path == file {
			r.figure(f)
		}
	}
	if s := t.shares(); len(s) > 1 && len(s) <= 12 && t.additive() {
		r.shareTable(t, s)
	}
	kind := ""
	if t.Bucket != "" {
		kind = fmt.Sprintf("; long series are shown by their %s over %s", t.Aggregation, t.Bucket)
	}
	if file == theTask {
		return
	}
	fmt.Fprintf(&r.b, "<p><small>%s has %s and %s%s.</small></p>\n", prose(file),
		count(len(t.Columns), "column"), count(int(t.RowCount), "row"), html.EscapeString(kind))
}

func (r *report) shareTable(t *table, s []total) {
	fmt.Fprintf(&r.b, "<table><thead><tr><th>%s</th><th>%s</th><th>Share</th></tr></thead><tbody>\n",
		html.EscapeString(title(t.GroupBy)), html.EscapeString(title(t.Measure)))
	for _, v := range s {
		fmt.Fprintf(&r.b, "<tr><td>%s</td><td>%s</td><td>%s</td></tr>\n", html.EscapeString(v.Group), number(v.Value), percent(v.Share))
	}
	r.b.WriteString("</tbody></table>\n")
}

// figure embeds a made picture by its placeholder.
func (r *report) figure(f figure) {
	alt := describe(f.made.Outputs)
	if alt == "" {
		alt = f.caption
	}
	for _, i := range images(f.made.Outputs) {
		r.figures++
		fmt.Fprintf(&r.b, "<figure><img src=\"${media:%s}\" alt=\"%s\" title=\"%s\"><figcaption>Figure %d: %s %s</figcaption></figure>\n",
			i.Ref, html.EscapeString(alt), html.EscapeString(alt), r.figures, html.EscapeString(strings.TrimRight(f.caption, ".")+"."), html.EscapeString(f.note))
	}
}

// describe finds the text that an action gives about its picture.
func describe(outputs json.RawMessage) string {
	var tree map[string]any
	if json.Unmarshal(outputs, &tree) != nil {
		return ""
	}
	for k, v := range tree {
		if s, ok := v.(string); ok && strings.EqualFold(k, "description") {
			return s
		}
	}
	return ""
}

func (r *report) texts() {
	if len(r.m.Passages) == 0 {
		return
	}
	r.tag("h2", "What the texts say")
	for _, f := range r.of(cloudAction) {
		r.figure(f)
	}
	for _, p := range r.m.Passages {
		r.tag("h3", nameOf(p.Path, p.Title))
		if len(p.Sentences) == 0 {
			r.tag("p", "The file holds no full sentences.")
			continue
		}
		var text []string
		for _, s := range p.Sentences {
			text = append(text, s.Text)
		}
		fmt.Fprintf(&r.b, "<blockquote><p>%s</p><p><cite>%s</cite></p></blockquote>\n",
			html.EscapeString(strings.Join(text, " ")), linked(p.Path, ""))
	}
}

// nameOf is a text's title, else its file name in words.
func nameOf(file, known string) string {
	if known != "" {
		return known
	}
	return title(strings.TrimSuffix(path.Base(file), path.Ext(file)))
}

// linked writes a path, and the address of a page as a link.
func linked(path, title string) string {
	if !strings.HasPrefix(path, "https://") && !strings.HasPrefix(path, "http://") {
		return html.EscapeString(path)
	}
	if title == "" {
		title = strings.TrimPrefix(strings.TrimPrefix(path, "https://"), "http://")
	}
	return fmt.Sprintf(`<a href="%s">%s</a>`, html.EscapeString(path), html.EscapeString(clip(title, 120)))
}

func (r *report) sources() {
	r.tag("h2", "Sources")
	if len(r.m.Sources) > 0 {
		r.b.WriteString("<table><thead><tr><th>Source</th><th>Kind</th><th>Rows</th></tr></thead><tbody>\n")
		for _, s := range r.m.Sources {
			rows := ""
			if s.Rows > 0 {
				rows = number(s.Rows)
			}
			fmt.Fprintf(&r.b, "<tr><td>%s</td><td>%s</td><td>%s</td></tr>\n", linked(s.Path, s.Title), html.EscapeString(s.Kind), rows)
		}
		r.b.WriteString("</tbody></table>\n")
	}
	var not []string
	for _, n := range r.m.NotRead {
		not = append(not, n.Path+": "+n.Reason)
	}
	if len(not) > 0 {
		r.tag("p", "Not read:")
		r.list(not)
	}
	if len(r.missing) > 0 {
		r.tag("p", "Not available to this research: "+strings.Join(r.missing, ", ")+".")
	}
}

// failures names the figures that could not be made.
func (r *report) failures() {
	var bad []string
	for _, f := range r.plan.figures {
		switch {
		case f.made == nil:
			bad = append(bad, f.call.Name+": there was no answer.")
		case !f.made.Success:
			bad = append(bad, f.made.Name+": "+f.made.Message)
		}
	}
	if r.composed != nil && !r.composed.Success {
		bad = append(bad, "Infographic: "+r.composed.Message)
	}
	if len(bad) > 0 {
		r.tag("p", "Some figures could not be made:")
		r.list(bad)
	}
}
