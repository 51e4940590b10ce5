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
	place := Root
	for _, n := range p[:max(0, len(p)-1)] {
		place = place.Part(n.String())
	}
	return place
}

// Place names a part of a workflow among all of it, as saved states do: [Root], or the names of
// the parts down to it, each with a slash behind it.
type Place string

// Root is the place of the whole workflow.
const Root Place = ""

// Part is the place of a part of this one.
func (p Place) Part(name string) Place { return p + Place(name) + "/" }

// Full is the full name of a step of this place.
func (p Place) Full(name string) string { return string(p) + name }

// Own gives the name of a step within this place; ok is false for steps elsewhere, also in its parts.
func (p Place) Own(full string) (name string, ok bool) {
	name, ok = strings.CutPrefix(full, string(p))
	return name, ok && !strings.Contains(name, "/")
}

// Below gives the part of this place that a step is in.
func (p Place) Below(full string) (part string, ok bool) {
	rest, ok := strings.CutPrefix(full, string(p))
	part, _, inside := strings.Cut(rest, "/")
	return part, ok && inside
}

// Has reports whether a step is in this place or in a part of it.
func (p Place) Has(full string) bool { return strings.HasPrefix(full, string(p)) }

// PlaceOf is the place of the step of that full name.
func PlaceOf(full string) Place { return Place(full[:strings.LastIndex(full, "/")+1]) }

// Single reports whether a text can be one name of a path: it is not empty and has no slash.
func Single(text string) bool { return text != "" && !strings.Contains(text, "/") }

// Top gives the first name of a step's path within this place: its own, or that of the part
// of this place that it is in.
func (p Place) Top(full string) (Name, bool) {
	rest, ok := strings.CutPrefix(full, string(p))
	if !ok {
		return Name{}, false
	}
	own, _, _ := strings.Cut(rest, "/")
	return Parse(own), true
}
