package ordered

import (
	"strconv"
	"strings"

	"atelier/media"
)

var (
	escape   = strings.NewReplacer("~", "~0", "/", "~1")
	unescape = strings.NewReplacer("~1", "/", "~0", "~")
)

// Join appends a key to a JSON pointer (RFC 6901).
func Join(pointer, key string) string { return pointer + "/" + escape.Replace(key) }

// Pointer returns the JSON pointer of a path.
func Pointer(path ...string) string {
	p := ""
	for _, key := range path {
		p = Join(p, key)
	}
	return p
}

// Path parses a JSON pointer. The error has code media.CodeInvalid.
func Path(pointer string) ([]string, error) {
	if pointer == "" {
		return nil, nil
	}
	if pointer[0] != '/' {
		return nil, media.Errorf(media.CodeInvalid, "%s is not a JSON pointer: it must begin with /", media.ErrorText(pointer))
	}
	path := strings.Split(pointer[1:], "/")
	for i, key := range path {
		if rest := strings.NewReplacer("~0", "", "~1", "").Replace(key); strings.Contains(rest, "~") {
			return nil, media.Errorf(media.CodeInvalid, "%s is not a JSON pointer: write ~ as ~0", media.ErrorText(pointer))
		}
		path[i] = unescape.Replace(key)
	}
	return path, nil
}

// Index parses a list index as JSON pointers write it: no sign and no leading zero.
func Index(key string) (int, bool) {
	n, err := strconv.Atoi(key)
	return n, err == nil && n >= 0 && strconv.Itoa(n) == key
}

// Get returns the value at a path.
func Get(v any, path ...string) (any, bool) {
	for _, key := range path {
		switch parent := v.(type) {
		case *Object:
			child, ok := parent.Get(key)
			if !ok {
				return nil, false
			}
			v = child
		case []any:
			i, ok := Index(key)
			if !ok || i >= len(parent) {
				return nil, false
			}
			v = parent[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// At returns the value at a JSON pointer.
func At(v any, pointer string) (any, bool) {
	path, err := Path(pointer)
	if err != nil {
		return nil, false
	}
	return Get(v, path...)
}

// Covers reports whether below is the pointer above or a pointer inside its value.
func Covers(above, below string) bool {
	return above == below || strings.HasPrefix(below, above+"/")
}
