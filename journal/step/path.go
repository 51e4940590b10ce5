package step

import "strings"

// Path is the full name of a step: the parts that contain it, outermost first, followed by its own name. The path of a
// part ends with its own name.
type Path []Name

// ParsePath parses a full name; [Path.String] is its inverse.
func ParsePath(full string) Path {
	texts := strings.Split(full, "/")
	p := make(Path, len(texts))
	for i, t := range texts {
		p[i] = Parse(t)
	}
	return p
}

// String returns the text of the full name.
func (p Path) String() string {
	texts := make([]string, len(p))
	for i, n := range p {
		texts[i] = n.String()
	}
	return strings.Join(texts, "/")
}

// Own returns the name within the innermost part.
func (p Path) Own() Name {
	if len(p) == 0 {
		return Name{}
	}
	return p[len(p)-1]
}

// Inside returns the place of the part with this path.
func (p Path) Inside() Place {
	place := Root
	for _, n := range p {
		place = place.Part(n)
	}
	return place
}

// Place identifies a part of a workflow, in the form of saved states: [Root], or the names of the parts down to it,
// each followed by a slash.
type Place string

// Root is the place of the whole workflow.
const Root Place = ""

// Part returns the place of a part of this one.
func (p Place) Part(name Name) Place { return p + Place(name.String()) + "/" }

// Full returns the full name of a step of this place.
func (p Place) Full(name Name) string { return string(p) + name.String() }

// Own returns the name of a step within this place; ok is false for other steps, including those in its parts.
func (p Place) Own(full string) (name Name, ok bool) {
	text, ok := strings.CutPrefix(full, string(p))
	if !ok || strings.Contains(text, "/") {
		return Name{}, false
	}
	return Parse(text), true
}

// Has reports whether a step is in this place or in a part of it.
func (p Place) Has(full string) bool { return strings.HasPrefix(full, string(p)) }

// PlaceOf returns the place of the step with a full name.
func PlaceOf(full string) Place { return Place(full[:strings.LastIndex(full, "/")+1]) }

// Single reports whether a text can be one name of a path: it is not empty and contains no slash.
func Single(text string) bool { return text != "" && !strings.Contains(text, "/") }

// Top returns the first name of a step's path within this place: the step's own name, or that of the part that contains
// it. ok is false for steps outside of this place.
func (p Place) Top(full string) (name Name, isPart, ok bool) {
	rest, ok := strings.CutPrefix(full, string(p))
	own, _, isPart := strings.Cut(rest, "/")
	return Parse(own), isPart, ok
}
