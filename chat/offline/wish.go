package offline

import (
	"regexp"
	"slices"
	"strings"

	"atelier/chat/offline/question/speech"
	"atelier/internal/pattern"
)

// namedVisual matches visuals that are requests wherever they occur; wishedVisual matches
// those that may also be words of the data, and are requests only if a task asks for them.
const (
	namedVisual = `flow ?charts?|(?:network|flow|process|sequence|state|class|entity|mermaid|sketch|organi[sz]ation(?:al)?|gantt|architecture|venn|tree|sankey) (?:diagrams?|graphs?|charts?)|` +
		`word ?clouds?|mermaid|heat ?maps?|tree ?maps?|mind ?maps?|histograms?|` +
		`wortwolken?|(?:fluss|ablauf|netzwerk|prozess|sequenz|gantt|baum)-?diagramme?n?|organigramme?|mindmaps?|histogramme?`
	wishedVisual = `diagrams?|networks?|timelines?|time lines?|sketch(?:es)?|videos?|animations?|podcasts?|slides?|maps?|netzwerke?|zeitstrahl|zeitleisten?|skizzen?|landkarten?|animationen`
)

var (
	visualWord = pattern.Lazy(`(?i)\b(?:(` + namedVisual + `)|` + wishedVisual + `)\b`)
	// wishVerb are words that begin a request for a visual; wishStop are words that are not part of its name.
	wishVerb = speech.Folded(`with including include includes add insert draw show make create sketch plus as want need give mit samt inklusive zeichne füge zeige erstelle mache als`)
	wishStop = speech.Folded(`of in by per on for from to at about number von pro je auf über anzahl`)
	// askWord are words that begin a question, which is not a request for a visual.
	askWord = speech.Folded(`how many which what who where when wie viele welche welcher welches was wer wo`)
	// afterVisual matches what may follow the visual of a request: its subject, another request or an end.
	afterVisual = pattern.Lazy(`(?i)^\s*(?:$|[,.;:?!)]|(?:of|showing|about|for|from|and|or|with|that|on|in|to|please|von|der|des|zu|zum|zur|über|und|oder|mit|für|aus|dazu|bitte)\b)`)
	// wishBegins matches the words that may precede the verb of a request.
	wishBegins = pattern.Lazy(`(?i)[,;]?\s*(?:\b(?:and|und|also|please|bitte)\s+)*$`)
	// courtesy matches words that may accompany an instruction about the form of the report.
	courtesy = pattern.Lazy(`(?i)\b(?:please|bitte|thanks|thank you|danke|i|we|you|want|need|would|like|have|to|use|include|add|draw|make|and|ich|wir|will|möchten?|brauche|ein|und|text|only|just|nur|at all|either|there|shall|should|must|be)\b`)
)

// unsupportedVisuals lists the visuals that a task asks for by name and that cannot be drawn offline.
func unsupportedVisuals(task string) []string {
	var out []string
	for _, at := range visualWord().FindAllStringSubmatchIndex(task, -1) {
		if _, ok := requestsVisual(task, at); at[2] < 0 && !ok {
			continue
		}
		w := task[at[0]:at[1]]
		if !slices.ContainsFunc(out, func(o string) bool { return strings.EqualFold(o, w) }) {
			out = append(out, w)
		}
	}
	return out
}

// requestsVisual reports whether the task asks for the visual at a position, as in "with a short
// timeline of …", and returns where the request begins.
func requestsVisual(task string, at []int) (int, bool) {
	if !afterVisual().MatchString(task[at[1]:]) {
		return 0, false
	}
	from := strings.LastIndexAny(task[:at[0]], ".?!\n") + 1
	listed := false
	for end, steps := at[0], 0; ; steps++ {
		head := strings.TrimRight(task[from:end], " ")
		if head == "" {
			return 0, false
		}
		i := strings.LastIndexByte(head, ' ') + 1
		w := speech.Fold(strings.Trim(head[i:], `,;:"“”()`))
		switch {
		case wishVerb[w]:
			return from + wishBegins().FindStringIndex(task[from : from+i])[0], true
		case w == "and" || w == "und" || w == "or" || w == "oder" || strings.HasSuffix(head, ","):
			listed = true
		case askWord[w], (wishStop[w] || steps > 4) && !listed:
			return 0, false
		}
		end = from + i
	}
}

// questionOf returns a task without its requests for visuals that are not drawn, and
// without sentences that only say what the report must not show.
func questionOf(task string) string {
	whole := task
	for {
		cut := false
		for _, at := range visualWord().FindAllStringIndex(task, -1) {
			from, ok := requestsVisual(task, at)
			if !ok {
				continue
			}
			end := len(task)
			if i := strings.IndexAny(task[at[1]:], ".?!\n"); i >= 0 {
				end = at[1] + i
			}
			task, cut = task[:from]+task[end:], true
			break
		}
		if !cut {
			break
		}
	}
	var out strings.Builder
	for _, s := range regexp.MustCompile(`[^.?!\n]*[.?!\n]*`).FindAllString(task, -1) {
		rest := negated().ReplaceAllString(s, "")
		if rest != s && strings.Trim(courtesy().ReplaceAllString(rest, ""), " .,!?;:\n'’") == "" {
			continue
		}
		out.WriteString(s)
	}
	if short := strings.TrimSpace(out.String()); short != "" && speech.LanguageOf(short) == speech.LanguageOf(whole) {
		return short
	}
	return whole
}
