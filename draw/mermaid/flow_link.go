package mermaid

import (
	"strings"

	"atelier/draw/graph"
)

func longShapes(s string) graph.Shape {
	switch s {
	case "diam", "diamond", "decision", "question":
		return graph.Diamond
	case "cyl", "cylinder", "database", "db":
		return graph.Cylinder
	case "stadium", "pill", "terminal":
		return graph.Pill
	case "circle", "circ", "dbl-circ", "sm-circ":
		return graph.Circle
	case "hex", "hexagon", "prepare":
		return graph.Hexagon
	case "lean-r", "lean-l", "in-out", "out-in":
		return graph.Parallelogram
	case "rounded", "event":
		return graph.Round
	}
	return graph.Rect
}

// nodeID reads an id: no blanks and brackets, dashes only inside of words.
func nodeID(s string) string {
	for i, r := range s {
		if strings.ContainsRune(" []{}()<>|&;\"'=~@:,", r) {
			return s[:i]
		}
		if r == '-' && (i == 0 || i+1 == len(s) || strings.IndexByte(" -.>xo=", s[i+1]) >= 0) {
			return s[:i]
		}
	}
	return s
}

// maxLinkText is how many bytes the text within a link may have, so that a line of
// thousands of links is read in time.
const maxLinkText = 2000

func headOf(s string) graph.Head {
	switch s {
	case ">", "<":
		return graph.Arrow
	case "x":
		return graph.Cross
	case "o":
		return graph.Ball
	}
	return graph.NoHead
}

// readLink reads a link and its text; rest is empty if there is none or nothing follows.
func readLink(s string) (e graph.Edge, rest string, hidden bool) {
	e.Weight = 1
	var stem, end string
	switch {
	case hiddenLink().MatchString(s):
		return e, strings.TrimSpace(s[len(hiddenLink().FindString(s)):]), true
	case closedLink().MatchString(s):
		m := closedLink().FindStringSubmatch(s)
		e.Tail, stem, end, rest = headOf(m[1]), m[2], m[3], s[len(m[0]):]
	case openLink().MatchString(s):
		m := openLink().FindStringSubmatch(s)
		e.Tail, stem, rest = headOf(m[1]), m[2], s[len(m[0]):]
	default:
		m := textLink().FindStringSubmatchIndex(s[:min(len(s), maxLinkText)])
		if m == nil {
			return e, "", false
		}
		part := func(k int) string { return s[m[2*k]:m[2*k+1]] }
		e.Tail, stem, e.Label, end, rest = headOf(part(1)), part(2), plain(part(3)), part(5), s[m[11]:]
	}
	e.Head, e.Dashed, e.Thick = headOf(end), strings.HasPrefix(stem, "-."), strings.HasPrefix(stem, "==")
	if m := pipeText().FindStringSubmatch(rest); m != nil {
		e.Label, rest = plain(m[1]), rest[len(m[0]):]
	}
	return e, strings.TrimSpace(rest), false
}
