// Package patch edits JSON with versioned JSON Patches (RFC 6902). An edit of an older version is applied if no later
// edit touches its path, a parent or a child. Errors have code media.CodeInvalid with JSON pointers, or
// media.CodeVersion for a conflict. The package may import media and the packages of workflow that handle JSON.
package patch

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"atelier/media"
	"atelier/workflow/conform"
	"atelier/workflow/ordered"
	"atelier/workflow/problem"
)

// MaxOperations is the maximum number of operations in one edit.
const MaxOperations = 1000

// Operation is one operation of a JSON Patch.
type Operation struct {
	// Op is add, remove, replace or test; move and copy are not supported.
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"` // not written for remove
}

// MarshalJSON encodes the operation, including a value of null.
func (op Operation) MarshalJSON() ([]byte, error) {
	o := ordered.New("op", op.Op, "path", op.Path)
	if op.Op != "remove" {
		o.Set("value", op.Value)
	}
	return ordered.Encode(o), nil
}

// Edit is an applied patch.
type Edit struct {
	// Version is the version that the edit created.
	Version int `json:"version"`
	// Touched are the pointers that the edit changed. Moving the items of a list touches the list.
	Touched []string `json:"touched"`
}

// Document is a value with its version and the edits that produced it.
type Document struct {
	Value   *ordered.Object
	Version int
	// Edits are ordered by version. Old edits may be dropped; an edit of a version before the remaining ones is then a
	// conflict.
	Edits []Edit
}

// ConflictError reports an edit of an old version whose paths a later edit changed.
type ConflictError struct {
	// Version is the newest version.
	Version int
	// Paths are the conflicting paths of the edit.
	Paths []string
}

// Error lists the conflicting paths.
func (e *ConflictError) Error() string {
	return "a newer version (" + strconv.Itoa(e.Version) + ") has changed " + media.ErrorText(strings.Join(e.Paths, ", ")) + ": read it again, and decide anew"
}

// Parse parses a JSON Patch.
func Parse(b []byte) ([]Operation, error) {
	v, err := ordered.Decode(b)
	if err != nil {
		return nil, err
	}
	list, ok := v.([]any)
	if !ok || len(list) == 0 || len(list) > MaxOperations {
		return nil, problem.Join(problem.At("", "a JSON Patch must be a list of 1 to %d operations", MaxOperations))
	}
	var ops []Operation
	var found []problem.Problem
	for i, e := range list {
		o, _ := e.(*ordered.Object)
		op := Operation{Op: o.Text("op"), Path: o.Text("path")}
		at := "/" + strconv.Itoa(i)
		value, has := o.Get("value")
		op.Value = value
		_, bad := ordered.Path(op.Path)
		switch {
		case !slices.Contains([]string{"add", "remove", "replace", "test"}, op.Op):
			found = append(found, problem.At(at+"/op", "op must be add, remove, replace or test"))
		case bad != nil || !o.Has("path"):
			found = append(found, problem.At(at+"/path", "path must be a JSON pointer"))
		case !has && op.Op != "remove":
			found = append(found, problem.At(at, "value is missing"))
		}
		ops = append(ops, op)
	}
	return ops, problem.Join(found...)
}

// Edit applies a person's edit that was made on version base. forms holds the editable values by pointer, with their
// schemas. Only values of forms may change, and each must still match its schema. The document is not modified; the
// returned one shares unchanged parts with it.
func (d Document) Edit(base int, ops []Operation, forms map[string]*ordered.Object) (Document, error) {
	edited := map[string]bool{}
	var found []problem.Problem
	for i, op := range ops {
		form, ok := formOf(forms, op.Path)
		switch at := "/" + strconv.Itoa(i) + "/path"; {
		case !ok:
			found = append(found, problem.At(at, "%s is not part of a form: it cannot be edited", op.Path))
		case op.Op == "remove" && form == op.Path:
			found = append(found, problem.At(at, "%s is an entire form: it cannot be removed", op.Path))
		case op.Op == "add" && form == op.Path && d.inList(op.Path):
			found = append(found, problem.At(at, "%s is an item of a list, which cannot get more items: use replace", op.Path))
		}
		edited[form] = true
	}
	if err := problem.Join(found...); err != nil {
		return d, err
	}
	next, err := d.Apply(base, ops)
	if err != nil {
		return d, err
	}
	for _, form := range slices.Sorted(maps.Keys(edited)) {
		if found, err = checkForm(next.Value, form, forms[form]); err != nil {
			return d, err
		}
		if err := problem.Join(found...); err != nil {
			return d, err
		}
	}
	return next, nil
}

// inList reports whether a pointer leads to an item of a list.
func (d Document) inList(pointer string) bool {
	path, _ := ordered.Path(pointer[:max(0, strings.LastIndexByte(pointer, '/'))])
	parent, _ := ordered.Get(d.Value, path...)
	_, ok := parent.([]any)
	return ok
}

// formOf returns the innermost form that contains a path.
func formOf(forms map[string]*ordered.Object, path string) (form string, ok bool) {
	for p := range forms {
		if ordered.Covers(p, path) && (!ok || len(p) > len(form)) {
			form, ok = p, true
		}
	}
	return form, ok
}

func checkForm(doc *ordered.Object, form string, schema *ordered.Object) ([]problem.Problem, error) {
	s, err := conform.Compile(schema)
	if err != nil {
		return nil, err
	}
	path, err := ordered.Path(form)
	if err != nil {
		return nil, err
	}
	v, _ := ordered.Get(doc, path...)
	return problem.Under(form, problem.Join(s.Check(v)...)), nil
}

// Apply applies operations that were made on version base, all or none. An edit of the newest version never conflicts.
func (d Document) Apply(base int, ops []Operation) (Document, error) {
	if base < 0 || base > d.Version {
		return d, media.Errorf(media.CodeInvalid, "version %d does not exist: the newest is %d", base, d.Version)
	}
	value, _ := ordered.Clone(d.Value).(*ordered.Object)
	a := applier{root: value}
	for i, op := range ops {
		if err := a.apply(op); err != nil {
			if paths := d.conflicts(base, pathsOf(ops)); base < d.Version && len(paths) > 0 {
				return d, d.conflict(paths)
			}
			return d, problem.Join(problem.Under("/"+strconv.Itoa(i), err)...)
		}
	}
	if paths := d.conflicts(base, a.touched); len(paths) > 0 {
		return d, d.conflict(paths)
	}
	return d.next(a.root, a.touched...), nil
}

// next returns the document after an edit.
func (d Document) next(value *ordered.Object, touched ...string) Document {
	return Document{Value: value, Version: d.Version + 1, Edits: append(d.Edits[:len(d.Edits):len(d.Edits)], Edit{Version: d.Version + 1, Touched: touched})}
}

func (d Document) conflict(paths []string) error {
	return media.Errorf(media.CodeVersion, "%w", &ConflictError{Version: d.Version, Paths: paths})
}

func pathsOf(ops []Operation) (paths []string) {
	for _, op := range ops {
		paths = append(paths, op.Path)
	}
	return paths
}

// conflicts returns the paths that edits after version base touch. If some of these edits were dropped, it returns all
// paths.
func (d Document) conflicts(base int, touched []string) (paths []string) {
	later := d.Edits[:0:0]
	for _, e := range d.Edits {
		if e.Version > base {
			later = append(later, e)
		}
	}
	if len(later) != d.Version-base {
		return touched
	}
	for _, p := range touched {
		if slices.ContainsFunc(later, func(e Edit) bool {
			return slices.ContainsFunc(e.Touched, func(q string) bool { return ordered.Covers(p, q) || ordered.Covers(q, p) })
		}) {
			paths = append(paths, p)
		}
	}
	return paths
}

// Append adds values to the end of the list at a path. It creates the list and its parent objects if they are missing.
// It never conflicts; it stores the results of sub-actions.
func (d Document) Append(path []string, values ...any) (Document, error) {
	value, _ := ordered.Clone(d.Value).(*ordered.Object)
	parent := value
	for i, key := range path {
		v, ok := parent.Get(key)
		switch list, isList := v.([]any); {
		case i == len(path)-1 && (isList || !ok):
			parent.Set(key, append(list, values...))
		case i < len(path)-1 && !ok:
			child := &ordered.Object{}
			parent.Set(key, child)
			parent = child
		case i < len(path)-1 && parent.Object(key) != nil:
			parent = parent.Object(key)
		default:
			return d, media.Errorf(media.CodeInvalid, "results cannot be stored at %s: it has another value", media.ErrorText(ordered.Pointer(path...)))
		}
	}
	return d.next(value, ordered.Pointer(path...)), nil
}
