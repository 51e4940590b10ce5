package offline

import (
	"regexp"
	"slices"
	"strings"
)

// What a writer draws with.
const (
	chartAction   = "Create SVG Chart"
	diagramAction = "Create SVG Diagram"
	networkAction = "Create SVG Network"
	cloudAction   = "Create SVG Word Cloud"
	sketchAction  = "Create SVG Sketch Diagram"
	mermaidAction = "Create Mermaid Diagram"
	paintAction   = "Generate Image"
)

// order is what a task asks a report to show.
type order struct {
	title    string
	pictures int    // illustrations; one if the task does not say
	scene    string // what they show
	wording  string // the words around them, which may name a style
	// asked tells that the task itself wants pictures.
	asked       bool
	plain       bool // no charts are wanted
	charts      []request
	drawings    []request
	infographic *request
	beyond      []string // what no action here makes
}

// request is one visual that a task names.
type request struct {
	action string
	kind   string // bar, sequence; "" if the task leaves it open
	about  string // "" if the task does not say
}

// name is the visual as the task calls it: bar chart of market share.
func (r request) name() string {
	out := r.kind
	switch r.action {
	case chartAction:
		if r.kind == "" || slices.Contains(drawn, r.kind) {
			out = strings.TrimSpace(r.kind + " chart")
		}
	case networkAction:
		out = "network"
	case cloudAction:
		out = "word cloud"
	case sketchAction:
		out = "sketch"
	case infographicAction:
		out = "infographic"
	case mermaidAction:
		out = strings.TrimSpace(r.kind + " Mermaid diagram")
	case diagramAction:
		out = strings.TrimSpace(r.kind + " diagram")
	}
	if r.about != "" {
		out += " of " + r.about
	}
	return out
}

// visualNoun is a word for something to look at.
const visualNoun = `(?:charts?|graphs?|plots?|infographics?|illustrations?|images?|pictures?|photos?|drawings?|diagrams?|flow ?charts?|word ?clouds?|sketch(?:es)?|networks?|visuals?|videos?|animations?)`

var (
	negated = regexp.MustCompile(`(?i)[,;]?\s*\b(?:no|without|do not (?:use|include|add|draw|make)|don't (?:use|include|add|draw|make))(?: any| an?| the)?(?: [\w-]+ (?:or|and|nor))* (?:[\w-]+ )?` + visualNoun + `\b`)
	// nextVisual begins another wish: "… and an AI-generated infographic".
	nextVisual = regexp.MustCompile(`(?i)[,;]?\s(?:and|with|plus|including|as well as|along with)\s+(?:[\w–-]+\s+){0,4}?` + visualNoun + `\b`)
	joint      = regexp.MustCompile(`(?i)[,;]?\s(?:and|with|plus|including|as well as|along with)\s`)
	clauseEnd  = regexp.MustCompile(`[,;:?!\n]|\.(?:\s|$)`)
	aboutWhat  = regexp.MustCompile(`(?i)^\s+(?:(?:of|showing|about|for|on|depicting|comparing|with|that (?:shows?|compares?))\s+)(?:the |how )?`)

	picturesOf = regexp.MustCompile(`(?i)\b(?:illustrations?|images?|pictures?|photos?|photographs?|paintings?)\b`)
	chartsOf   = regexp.MustCompile(`(?i)\b(?:(org|organi[sz]ation|flow|bar|column|line|area|pie|donut|doughnut|stacked(?: bar)?|scatter|radar|spider|bubble|gantt|candlestick|sankey|box|waterfall)[ -]?)?(?:charts?|graphs?|plots?)\b`)
	exotic     = regexp.MustCompile(`(?i)\b(?:heat ?maps?|tree ?maps?|histograms?|choropleths?)\b`)
	diagramsOf = regexp.MustCompile(`(?i)\b(?:(flow|process|architecture|hierarchy|organi[sz]ation|block|tree|component|sequence|state|class|er|entity[- ]relationship|gantt|decision|network|relation(?:ship)?|sketch|mermaid) )?(?:diagrams?|flow ?charts?|org(?:ani[sz]ation)?(?:al)? charts?|gantt charts?)\b`)
	showHow    = regexp.MustCompile(`(?i)\b(?:show|draw|visuali[sz]e|diagram)\s+(?:the|a|an|our|its|their)\s+(?:[\w-]+\s+){0,2}?(process|workflow|pipeline|hierarchy|architecture|structure|life ?cycle)\b`)
	networksOf = regexp.MustCompile(`(?i)\b(?:network|relation(?:ship)?s?)\s+(?:graph|map|drawing)\b|(?:[,;]|\b(?:with|and|include|including|draw|show|as))\s+(?:an?|the)\s+(?:[\w-]+\s+)?network\b|\bhow\b[^.?!\n]*\b(?:related|connected|linked)\b|\bwho\b[^.?!\n]*\b(?:related|connected|linked|knows)\b`)
	cloudsOf   = regexp.MustCompile(`(?i)\b(?:word|tag)[ -]?clouds?\b|\bmost (?:frequent|common|used) words\b`)
	sketchOf   = regexp.MustCompile(`(?i)\b(?:hand[- ]drawn|whiteboard|sketch(?:es|ed)?)\b(?:\s+(?:diagrams?|drawings?|sketch(?:es)?))?`)
	penSketch  = regexp.MustCompile(`(?i)\b(?:pencil|charcoal|ink|pen)\s+sketch(?:es)?\b`)
	mermaidOf  = regexp.MustCompile(`(?i)\bmermaid\b`)
	glanceOf   = regexp.MustCompile(`(?i)\binfographics?\b|\bat (?:a|one) glance\b|\b(?:industry|business|partner|market|startup|product|platform|innovation|vendor)\s+ecosystem\b`)
	beyondUs   = regexp.MustCompile(`(?i)\b(?:an?|the|as|with|include|including)\s+(?:[\w-]+\s+)?(map|video|animation|podcast|slide deck|slides|slideshow|presentation|spreadsheet|3d model|voice-?over)s?\b`)
)

// readOrder reads what a task wants to see.
func readOrder(task string) order {
	o := order{title: headline(task), pictures: pictures(task), scene: ""}
	for _, no := range negated.FindAllString(task, -1) {
		if regexp.MustCompile(`(?i)picture|illustration|image|photo|visual`).MatchString(no) {
			o.pictures = 0
		}
		o.plain = o.plain || regexp.MustCompile(`(?i)chart|graph|plot|visual`).MatchString(no)
	}
	task = negated.ReplaceAllString(task, "")
	if at := picturesOf.FindStringIndex(task); at != nil && o.pictures > 0 {
		o.asked, o.scene, o.wording = true, about(task[at[1]:]), task[max(0, at[0]-40):at[1]]
	}
	o.readCharts(task)
	o.readDrawings(task)
	if at := glanceOf.FindStringIndex(task); at != nil {
		what := about(task[at[1]:])
		if found := task[at[0]:at[1]]; strings.HasSuffix(strings.ToLower(found), "ecosystem") {
			what = strings.ToLower(found)
		}
		o.infographic = &request{action: infographicAction, about: what}
	}
	for _, m := range beyondUs.FindAllStringSubmatch(task, -1) {
		if !slices.Contains(o.beyond, strings.ToLower(m[1])) {
			o.beyond = append(o.beyond, strings.ToLower(m[1]))
		}
	}
	return o
}

// about reads what a visual shows from the text behind its name.
func about(rest string) string {
	at := aboutWhat.FindStringIndex(rest)
	if at == nil {
		return ""
	}
	rest = rest[at[1]:]
	if at := clauseEnd.FindStringIndex(rest); at != nil {
		rest = rest[:at[0]]
	}
	if at := nextVisual.FindStringIndex(rest); at != nil {
		joints := joint.FindAllStringIndex(rest[:at[1]], -1)
		rest = rest[:joints[len(joints)-1][0]]
	}
	return clip(strings.Trim(rest, " \t\"'“”"), 160)
}

func (o *order) readCharts(task string) {
	for _, m := range chartsOf.FindAllStringSubmatchIndex(task, -1) {
		kind := ""
		if m[2] >= 0 {
			kind = strings.ToLower(task[m[2]:m[3]])
		}
		switch kind {
		case "org", "organisation", "organization", "flow", "gantt":
			continue // a drawing
		case "column":
			kind = "bar"
		case "doughnut":
			kind = "donut"
		case "stacked bar":
			kind = "stacked"
		}
		o.charts = append(o.charts, request{action: chartAction, kind: kind, about: about(task[m[1]:])})
	}
	for _, m := range exotic.FindAllStringIndex(task, -1) {
		o.charts = append(o.charts, request{action: chartAction, kind: strings.ToLower(task[m[0]:m[1]]), about: about(task[m[1]:])})
	}
}

func (o *order) readDrawings(task string) {
	add := func(action, kind, what string) {
		if !slices.ContainsFunc(o.drawings, func(r request) bool {
			return r.action == action && (what == "" && kind == "" || r.about == what && r.kind == kind)
		}) {
			o.drawings = append(o.drawings, request{action: action, kind: kind, about: what})
		}
	}
	if mermaidOf.MatchString(task) {
		add(mermaidAction, mermaidKind(task), whatOf(diagramsOf, task))
	}
	if sketchOf.MatchString(penSketch.ReplaceAllString(task, "")) {
		add(sketchAction, "", whatOf(sketchOf, task))
	}
	if cloudsOf.MatchString(task) {
		add(cloudAction, "", whatOf(cloudsOf, task))
	}
	if networksOf.MatchString(task) {
		add(networkAction, "", whatOf(networksOf, task))
	}
	for _, m := range diagramsOf.FindAllStringSubmatchIndex(task, -1) {
		if sketchOf.MatchString(task[max(0, m[0]-14):m[1]]) {
			continue // it is the sketch
		}
		kind := ""
		if m[2] >= 0 {
			kind = strings.ToLower(task[m[2]:m[3]])
		}
		switch found := strings.ToLower(task[m[0]:m[1]]); {
		case strings.HasPrefix(found, "flow"):
			kind = "flow"
		case strings.HasPrefix(found, "org"):
			kind = "hierarchy"
		case strings.HasPrefix(found, "gantt"):
			kind = "gantt"
		}
		switch kind {
		case "network", "relation", "relationship":
			add(networkAction, "", about(task[m[1]:]))
		case "sequence", "state", "class", "er", "entity-relationship", "gantt":
			add(mermaidAction, kind, about(task[m[1]:]))
		case "sketch", "mermaid":
		default:
			if !mermaidOf.MatchString(task[max(0, m[0]-30):min(len(task), m[1]+15)]) {
				add(diagramAction, kind, about(task[m[1]:]))
			}
		}
	}
	if m := showHow.FindStringSubmatchIndex(task); m != nil && !o.draws(diagramAction) && !o.draws(sketchAction) && !o.draws(mermaidAction) {
		add(diagramAction, "", strings.ToLower(task[m[2]:m[3]]))
	}
}

func (o *order) draws(action string) bool {
	return slices.ContainsFunc(o.drawings, func(r request) bool { return r.action == action })
}

func whatOf(name *regexp.Regexp, task string) string {
	if at := name.FindStringIndex(task); at != nil {
		return about(task[at[1]:])
	}
	return ""
}

// mermaidKind is the kind of Mermaid diagram that a task names, or a flowchart.
func mermaidKind(task string) string {
	lower := strings.ToLower(task)
	for _, k := range []string{"sequence", "pie", "state", "class", "gantt"} {
		if strings.Contains(lower, k) {
			return k
		}
	}
	if strings.Contains(lower, "entity") || regexp.MustCompile(`\ber diagram`).MatchString(lower) {
		return "er"
	}
	return ""
}

var (
	reportOn   = regexp.MustCompile(`(?i)\b(?:report|analysis|overview|study|summary|research|paper|article|brief(?:ing)?)\s+(?:on|about|of|into|regarding)\s+`)
	makeIt     = regexp.MustCompile(`(?i)^(?:please\s+)?(?:(?:can|could|would) you\s+)?(?:please\s+)?(?:create|write|make|prepare|draft|produce|generate|compile|give|draw|build|compose|show)\s+(?:me\s+|us\s+)?(?:an?\s+|the\s+|one\s+)?`)
	kindOfWork = regexp.MustCompile(`(?i)^(?:an?\s+|the\s+)?(?:(?:short|detailed|brief|full|illustrated|research|comprehensive|long)\s+)*(?:report|paper|article|study)s?$`)
	leadVisual = regexp.MustCompile(`(?i)^(?:with )?(?:an?|the|one|two|three|some)\s+(?:[\w–-]+\s+){0,3}?` + visualNoun + `(?:\s+(?:and|with)\s+an?\s+report)?(?:\s+(?:of|on|about|showing))?:?\s+(?:an?\s+report\s+on\s+)?`)
	article    = regexp.MustCompile(`(?i)^an? `)
	withVisual = regexp.MustCompile(`(?i),?\s+(?:with|including|that includes|and|plus|containing|featuring|as|in)\s+(?:[\w–-]+\s+){0,4}?` + visualNoun + `\b.*$`)
)
