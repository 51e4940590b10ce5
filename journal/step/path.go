package step

import "strings"

// Path is the full name of a step: the parts that it is in, outermost first, then its own
// name. The path of a part is its own name last.
type Path []Name

// ParsePath reads a full name; [Path.String] is its inverse.
func ParsePath(full string) Path {
	texts := strings.Split(full, "/")
	p := make(Path, len(texts))
	for i, t := range texts {
		p[i] = Parse(t)
	}
	return p
}

// String is the text of the full name.
func (p Path) String() string {
	texts := make([]string, len(p))
	for i, n := range p {
		texts[i] = n.String()
	}
	return strings.Join(texts, "/")
}

// Own is the name within the innermost part.
func (p Path) Own() Name {
	if len(p) == 0 {
		return Name{}
	}
	return p[len(p)-1]
}

// Place is that of the innermost part that the step is in.
func (p Path) Place() Place {
	return p[:max(0, len(p)-1)].Inside()
}

// Inside is the place of the part whose path this is.
func (p Path) Inside() Place {
	place := Root
	for _, n := range p {
		place = place.Part(n)
	}
	return place
}

// Place names a part of a workflow among all of it, as saved states do: [Root], or the names of
// the parts down to it, each with a slash behind it.
type Place string

// Root is the place of the whole workflow.
const Root Place = ""

// Part is the place of a part of this one.
func (p Place) Part(name Name) Place { return p + Place(name.String()) + "/" }

// Full is the full name of a step of this place.
func (p Place) Full(name Name) string { return string(p) + name.String() }

// Own returns the name of a step within this place; ok is false for steps elsewhere, also in its parts.
func (p Place) Own(full string) (name Name, ok bool) {
	text, ok := strings.CutPrefix(full, string(p))
	if !ok || strings.Contains(text, "/") {
		return Name{}, false
	}
	return Parse(text), true
}

// Below returns the part of this place that a step is in.
func (p Place) Below(full string) (part Name, ok bool) {
	rest, ok := strings.CutPrefix(full, string(p))
	text, _, inside := strings.Cut(rest, "/")
	if !ok || !inside {
		return Name{}, false
	}
	return Parse(text), true
}

// Has reports whether a step is in this place or in a part of it.
func (p Place) Has(full string) bool { return strings.HasPrefix(full, string(p)) }

// PlaceOf is the place of the step of that full name.
func PlaceOf(full string) Place { return Place(full[:strings.LastIndex(full, "/")+1]) }

// Single reports whether a text can be one name of a path: it is not empty and has no slash.
func Single(text string) bool { return text != "" && !strings.Contains(text, "/") }

// Top returns the first name of a step's path within this place: its own, or that of the part
// of this place that it is in.
func (p Place) Top(full string) (Name, bool) {
	rest, ok := strings.CutPrefix(full, string(p))
	if !ok {
		return Name{}, false
	}
	own, _, _ := strings.Cut(rest, "/")
	return Parse(own), true
}
