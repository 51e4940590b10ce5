// Package template resolves the {{ … }} templates of workflow definitions. Templates contain names and paths, but no
// code and no recursion. Only the author's strings are templates; inserted values are never resolved. Errors have code
// media.CodeInvalid and the pointer of the string. The package may import media, workflow/ordered and workflow/problem.
package template

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"atelier/media"
	"atelier/workflow/ordered"
)

// maxText is the maximum size of the text that one template produces, in bytes.
const maxText = 1 << 20

// Scope holds the values of the names at the start of paths.
type Scope map[string]any

// Template is a parsed string.
type Template struct {
	source string
	parts  []part
}

// part is literal text or a path.
type part struct {
	text string
	path []segment // empty for text
}

// segment is one key of a path: a literal key, or a name in the scope whose value is the key.
type segment struct {
	key    string
	byName bool
}

// Parse parses a string. A template that is not closed, empty or nested is an error.
func Parse(s string) (*Template, error) {
	t := &Template{source: s}
	for rest := s; rest != ""; {
		text, after, found := strings.Cut(rest, "{{")
		if text != "" {
			t.parts = append(t.parts, part{text: text})
		}
		if !found {
			break
		}
		inside, next, closed := strings.Cut(after, "}}")
		switch {
		case !closed:
			return nil, invalid("{{ is not closed: write {{ name }}")
		case strings.Contains(inside, "{{"):
			return nil, invalid("{{ inside {{ }}: templates cannot be nested")
		}
		path, err := parsePath(strings.TrimSpace(inside))
		if err != nil {
			return nil, err
		}
		t.parts, rest = append(t.parts, part{path: path}), next
	}
	return t, nil
}

func invalid(format string, args ...any) error {
	return media.Errorf(media.CodeInvalid, format, args...)
}

// parsePath parses name(.name | [name] | ["text"])*.
func parsePath(s string) (path []segment, err error) {
	whole := s
	name, s := cutName(whole)
	if name == "" {
		return nil, invalid("{{ %s }} is empty: write a path such as state.prompts or $data.subject", media.ErrorText(whole))
	}
	path = []segment{{key: name}}
	for s != "" {
		var next segment
		switch s[0] {
		case '.':
			next.key, s = cutName(s[1:])
		case '[':
			next, s = cutBracket(s[1:])
		default:
			return nil, invalid("{{ %s }} is not a path: use only names, .name and [name]; code is not supported", media.ErrorText(whole))
		}
		if next.key == "" {
			return nil, invalid("{{ %s }} is not a path: a name is missing or not closed", media.ErrorText(whole))
		}
		if next.key == ordered.Forbidden {
			return nil, invalid("{{ %s }} is out of scope: %s is not allowed as a key", media.ErrorText(whole), ordered.Forbidden)
		}
		path = append(path, next)
	}
	return path, nil
}

// cutName cuts a name from the front of s: letters, digits, _, - and one leading $.
func cutName(s string) (name, rest string) {
	i := 0
	for i < len(s) {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == '$' && i > 0 || r != '$' && !nameRune(r) {
			break
		}
		i += n
	}
	if s[:i] == "$" {
		return "", s
	}
	return s[:i], s[i:]
}

func nameRune(r rune) bool {
	return r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r > 0x7f && r != utf8.RuneError
}

// cutBracket cuts what follows [: a name whose value is the key, quoted text, or an index.
func cutBracket(s string) (next segment, rest string) {
	if s != "" && (s[0] == '"' || s[0] == '\'') {
		key, after, ok := strings.Cut(s[1:], s[:1]+"]")
		if !ok {
			return segment{}, s
		}
		return segment{key: key}, after
	}
	name, after := cutName(s)
	after, ok := strings.CutPrefix(after, "]")
	if !ok {
		return segment{}, s
	}
	_, index := ordered.Index(name)
	return segment{key: name, byName: !index}, after
}

// Literal reports whether the template contains no path.
func (t *Template) Literal() bool {
	return !slices.ContainsFunc(t.parts, func(p part) bool { return p.path != nil })
}

// Source returns the string as it was written.
func (t *Template) Source() string { return t.source }

// Names returns the scope names that the template uses, including those inside [ ].
func (t *Template) Names() (names []string) {
	for _, p := range t.parts {
		for i, s := range p.path {
			if i == 0 || s.byName {
				names = append(names, s.key)
			}
		}
	}
	return names
}

// Paths returns the paths whose keys are all known before the template is resolved.
func (t *Template) Paths() (paths [][]string) {
next:
	for _, p := range t.parts {
		var path []string
		for _, s := range p.path {
			if s.byName {
				continue next
			}
			path = append(path, s.key)
		}
		if path != nil {
			paths = append(paths, path)
		}
	}
	return paths
}

// Whole returns the path if the string is exactly one template with known keys, and nil otherwise.
func (t *Template) Whole() []string {
	if len(t.parts) != 1 {
		return nil
	}
	if paths := t.Paths(); len(paths) == 1 {
		return paths[0]
	}
	return nil
}

// UnknownError reports a path without a value.
type UnknownError struct{ Path string }

// Error names the path.
func (e *UnknownError) Error() string {
	return "{{ " + e.Path + " }} is unknown: there is no value with that name"
}

// Value resolves the template. If the template is the whole string, the result is the value itself, with its type,
// shared with the scope. Inside text, a value must be text, a number, a Boolean or null, which becomes empty. The error
// for an unknown path is an [*UnknownError].
func (t *Template) Value(scope Scope) (any, error) {
	if len(t.parts) == 1 && t.parts[0].path != nil {
		return scope.find(t.parts[0].path)
	}
	return t.Text(scope, false)
}

// Text resolves the template to text. Null becomes empty and, if lenient, so does an unknown path.
func (t *Template) Text(scope Scope, lenient bool) (string, error) {
	var b strings.Builder
	for _, p := range t.parts {
		b.WriteString(p.text)
		if p.path == nil {
			continue
		}
		v, err := scope.find(p.path)
		if err != nil && !lenient {
			return "", err
		}
		s, ok := Scalar(v)
		if !ok {
			return "", invalid("{{ %s }} is an object or a list, which cannot be inserted into text: use one of its values, or make the template the whole value", spell(p.path))
		}
		b.WriteString(s)
		if b.Len() > maxText {
			return "", media.Errorf(media.CodeTooLarge, "the resulting text is longer than %d bytes", maxText)
		}
	}
	return b.String(), nil
}

// Scalar returns text, a number, a Boolean or null as text; null is empty.
func Scalar(v any) (string, bool) {
	switch v := v.(type) {
	case nil:
		return "", true
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case json.Number:
		return v.String(), true
	}
	return "", false
}

// find returns the value at a path. Nothing outside the scope can be reached.
func (s Scope) find(path []segment) (any, error) {
	var v any = s
	for _, seg := range path {
		key, ok := seg.key, true
		if seg.byName {
			var named any
			if named, ok = s[key]; ok {
				key, ok = Scalar(named)
			}
		}
		if ok {
			if first, is := v.(Scope); is {
				v, ok = first[key]
			} else {
				v, ok = ordered.Get(v, key)
			}
		}
		if !ok {
			return nil, media.Errorf(media.CodeInvalid, "%w", &UnknownError{Path: spell(path)})
		}
	}
	return v, nil
}

// spell formats a path as an author writes it.
func spell(path []segment) string {
	var b strings.Builder
	for i, s := range path {
		name, rest := cutName(s.key)
		switch {
		case s.byName:
			b.WriteString("[" + s.key + "]")
		case rest != "" || name == "":
			b.WriteString("[" + strconv.Quote(s.key) + "]")
		case i > 0:
			b.WriteString("." + s.key)
		default:
			b.WriteString(s.key)
		}
	}
	return media.ErrorText(b.String())
}
