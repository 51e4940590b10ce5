package mermaid

import (
	"strings"

	"atelier/draw/graph"
)

// longShapes maps the names of shapes in the form id@{ shape: name }; all others are boxes.
var longShapes = map[string]graph.Shape{
	"diam": graph.Diamond, "diamond": graph.Diamond, "decision": graph.Diamond, "question": graph.Diamond,
	"cyl": graph.Cylinder, "cylinder": graph.Cylinder, "database": graph.Cylinder, "db": graph.Cylinder,
	"stadium": graph.Pill, "pill": graph.Pill, "terminal": graph.Pill,
	"circle": graph.Circle, "circ": graph.Circle, "dbl-circ": graph.Circle, "sm-circ": graph.Circle,
	"hex": graph.Hexagon, "hexagon": graph.Hexagon, "prepare": graph.Hexagon,
	"lean-r": graph.Parallelogram, "lean-l": graph.Parallelogram, "in-out": graph.Parallelogram, "out-in": graph.Parallelogram,
	"rounded": graph.Round, "event": graph.Round,
}

// nodeID returns the id at the start of s: without blanks and brackets, with dashes only inside words.
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

// maxLinkText is the maximum number of bytes of text within a link, so that a line of thousands of
// links is parsed in time.
const maxLinkText = 2000

// heads maps the ends of links.
var heads = map[string]graph.Head{">": graph.Arrow, "<": graph.Arrow, "x": graph.Cross, "o": graph.Ball}

// readLink parses a link and its text; rest is empty if there is no link or nothing follows.
func readLink(s string) (e graph.Edge, rest string, hidden bool) {
	e.Weight = 1
	var stem, end string
	if m := hiddenLink().FindString(s); m != "" {
		return e, strings.TrimSpace(s[len(m):]), true
	} else if m := closedLink().FindStringSubmatch(s); m != nil {
		e.Tail, stem, end, rest = heads[m[1]], m[2], m[3], s[len(m[0]):]
	} else if m := openLink().FindStringSubmatch(s); m != nil {
		e.Tail, stem, rest = heads[m[1]], m[2], s[len(m[0]):]
	} else {
		m := textLink().FindStringSubmatchIndex(s[:min(len(s), maxLinkText)])
		if m == nil {
			return e, "", false
		}
		part := func(k int) string { return s[m[2*k]:m[2*k+1]] }
		e.Tail, stem, e.Label, end, rest = heads[part(1)], part(2), plain(part(3)), part(5), s[m[11]:]
	}
	e.Head, e.Dashed, e.Thick = heads[end], strings.HasPrefix(stem, "-."), strings.HasPrefix(stem, "==")
	if m := pipeText().FindStringSubmatch(rest); m != nil {
		e.Label, rest = plain(m[1]), rest[len(m[0]):]
	}
	return e, strings.TrimSpace(rest), false
}
