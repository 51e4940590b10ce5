package offline

import (
	"regexp"
	"strings"

	"atelier/chat/offline/question"
	"atelier/chat/offline/question/speech"
	"atelier/internal/pattern"
)

// Actions that a writer draws with.
const (
	chartAction = "Create SVG Chart"
	paintAction = "Generate Image"
)

// order is what a task wants a report to show.
type order struct {
	// pictures is the number of requested illustrations; scene is what they show.
	pictures int
	scene    string
	// plain means that no charts are wanted, charted that one is; chart is its kind.
	plain, charted bool
	chart          string
	// infographic means that one is requested.
	infographic bool
	// unsupported are the requested visuals that are not drawn offline.
	unsupported []string
}

const visualNoun = `(?:charts?|graphs?|plots?|infographics?|illustrations?|images?|pictures?|photos?|drawings?|diagrams?|visuals?|videos?|diagramme?|grafiken?|bild(?:er)?|illustrationen|abbildungen?|fotos?|infografiken?)`

var (
	negated    = pattern.Lazy(`(?i)[,;]?\s*\b(?:no|without|do not (?:use|include|add|draw|make)|don't (?:use|include|add|draw|make)|keine?n?|ohne)(?: any| an?| the)?(?: [\w-]+ (?:or|and|nor|oder|und))* (?:[\w-]+ )?` + visualNoun + `\b`)
	picturesOf = pattern.Lazy(`(?i)\b(?:illustrations?|images?|pictures?|photos?|photographs?|paintings?|illustrationen|bild(?:er|ern)?|fotos?|gemälde)\b`)
	chartOrder = pattern.Lazy(`(?i)\b(?:charts?|graphs?|plots?|[\p{L}]*diagramme?[ns]?|schaubild(?:er)?)\b`)
	chartsOf   = pattern.Lazy(`(?i)\b(bar|column|line|pie|donut|doughnut|scatter|area|stacked|balken|säulen|linien|torten|kreis)[- ]?(?:charts?|graphs?|plots?|diagramme?s?)\b`)
	glanceOf   = pattern.Lazy(`(?i)\b(?:infographics?|infografik(?:en)?)\b`)
	aboutWhat  = pattern.Lazy(`(?i)^\s+(?:of|showing|about|depicting|with|that shows?|von|mit|zu|über)\s+(?:the |einer |einem |der |dem |den )?`)
	clauseEnd  = pattern.Lazy(`[,;:?!\n]|\.(?:\s|$)|\s(?:and|und)\s+(?:an?|one|eine?)?\s*(?:[\w-]+\s+)?` + visualNoun + `\b`)
)

func readOrder(task string) order {
	var o order
	none := false
	for _, no := range negated().FindAllString(task, -1) {
		none = none || picturesOf().MatchString(no) || strings.Contains(strings.ToLower(no), "visual")
		o.plain = o.plain || regexp.MustCompile(`(?i)chart|graph|plot|visual|diagramm|grafik`).MatchString(no)
	}
	task = negated().ReplaceAllString(task, "")
	if at := picturesOf().FindStringIndex(task); at != nil && !none {
		o.pictures = howMany(task)
		rest := task[at[1]:]
		if of := aboutWhat().FindStringIndex(rest); of != nil {
			rest = rest[of[1]:]
			if end := clauseEnd().FindStringIndex(rest); end != nil {
				rest = rest[:end[0]]
			}
			o.scene = clip(strings.Trim(rest, " \t\"'“”"), 160)
		}
	}
	if m := chartsOf().FindStringSubmatch(task); m != nil {
		o.chart = strings.ToLower(m[1])
	}
	o.infographic = glanceOf().MatchString(task)
	o.unsupported = unsupportedVisuals(task)
	for _, w := range o.unsupported {
		task = regexp.MustCompile(`(?i)\b`+regexp.QuoteMeta(w)+`\b`).ReplaceAllString(task, "")
	}
	for _, at := range chartOrder().FindAllStringIndex(task, -1) {
		_, ok := requestsVisual(task, at)
		o.charted = o.charted || ok
	}
	return o
}

var (
	makeIt   = pattern.Lazy(`(?i)^(?:please\s+)?(?:create|write|make|prepare|draft|produce|generate|compile|give me|draw|build|erstelle|schreibe)\s+(?:an?\s+|the\s+|einen\s+|eine\s+|ein\s+)?`)
	withWish = pattern.Lazy(`(?i),?\s+(?:with|including|and|plus|as|mit|samt|inklusive)\s+(?:[\w–-]+\s+){0,4}?` + visualNoun + `\b.*$`)
)

// headline returns a title for a task: its first question, or what it orders.
func headline(task string) string {
	task = questionOf(task)
	title, mark := withWish().ReplaceAllString(makeIt().ReplaceAllString(task, ""), ""), ""
	if parts := question.Parts(task); len(parts) > 0 && !strings.HasPrefix(parts[0], "list ") {
		title = parts[0]
		if strings.Contains(task, "?") {
			mark = "?"
		}
	}
	return speech.Upper(clip(strings.Trim(title, " .!?:,"), 110)) + mark
}
