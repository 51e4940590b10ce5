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
	var found problem.List
	for i, e := range list {
		o, _ := e.(*ordered.Object)
		op := Operation{Op: o.Text("op"), Path: o.Text("path")}
		at := "/" + strconv.Itoa(i)
		value, has := o.Get("value")
		op.Value = value
		_, bad := ordered.Path(op.Path)
		switch {
		case !slices.Contains([]string{"add", "remove", "replace", "test"}, op.Op):
			found.Fail(at+"/op", "op must be add, remove, replace or test")
		case bad != nil || !o.Has("path"):
			found.Fail(at+"/path", "path must be a JSON pointer")
		case !has && op.Op != "remove":
			found.Fail(at, "value is missing")
		}
		ops = append(ops, op)
	}
	return ops, found.Err()
}

// Edit applies a person's edit that was made on version base. forms holds the editable values by pointer, with their
// schemas. Only values of forms may change, and each must still match its schema. The document is not modified; the
// returned one shares unchanged parts with it.
func (d Document) Edit(base int, ops []Operation, forms map[string]*ordered.Object) (Document, error) {
	edited := map[string]bool{}
	var found problem.List
	for i, op := range ops {
		form, ok := "", false // the innermost form that contains the path
		for p := range forms {
			if ordered.Covers(p, op.Path) && (!ok || len(p) > len(form)) {
				form, ok = p, true
			}
		}
		above, _ := ordered.At(d.Value, op.Path[:max(0, strings.LastIndexByte(op.Path, '/'))])
		_, inList := above.([]any)
		switch at := "/" + strconv.Itoa(i) + "/path"; {
		case !ok:
			found.Fail(at, "%s is not part of a form: it cannot be edited", op.Path)
		case op.Op == "remove" && form == op.Path:
			found.Fail(at, "%s is an entire form: it cannot be removed", op.Path)
		case op.Op == "add" && form == op.Path && inList:
			found.Fail(at, "%s is an item of a list, which cannot get more items: use replace", op.Path)
		}
		edited[form] = true
	}
	if err := found.Err(); err != nil {
		return d, err
	}
	next, err := d.Apply(base, ops)
	if err != nil {
		return d, err
	}
	for _, form := range slices.Sorted(maps.Keys(edited)) {
		v, _ := ordered.At(next.Value, form)
		if err := conform.Validate(forms[form], form, v); err != nil {
			return d, err
		}
	}
	return next, nil
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
			var all []string
			for _, op := range ops {
				all = append(all, op.Path)
			}
			if paths := d.conflicts(base, all); base < d.Version && len(paths) > 0 {
				return d, d.conflict(paths)
			}
			return d, problem.Join(problem.Under("/"+strconv.Itoa(i), err)...)
		}
	}
	if paths := d.conflicts(base, a.touched); len(paths) > 0 {
		return d, d.conflict(paths)
	}
	next := d.Version + 1
	return Document{Value: a.root, Version: next, Edits: append(d.Edits[:len(d.Edits):len(d.Edits)], Edit{Version: next, Touched: a.touched})}, nil
}

func (d Document) conflict(paths []string) error {
	return media.Errorf(media.CodeVersion, "a newer version (%d) has changed %s: read it again, and decide anew", d.Version, media.ErrorText(strings.Join(paths, ", ")))
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

// Append returns the operations that add values to the end of the list at a path, and create the list and its parent
// objects if they are missing; they store the results of sub-actions.
func Append(doc *ordered.Object, path []string, values ...any) (ops []Operation, err error) {
	for depth, key := range path {
		at := ordered.Pointer(path[:depth+1]...)
		v, ok := ordered.Get(doc, path[:depth+1]...)
		_, isList := v.([]any)
		_, isObject := v.(*ordered.Object)
		switch last := depth == len(path)-1; {
		case !ok:
			var value any = values
			for _, below := range slices.Backward(path[depth+1:]) {
				value = ordered.New(below, value)
			}
			return []Operation{{Op: "add", Path: at, Value: value}}, nil
		case last && !isList, !last && !isObject:
			return nil, media.Errorf(media.CodeInvalid, "results cannot be stored at %s: %s has another value", media.ErrorText(ordered.Pointer(path...)), media.ErrorText(key))
		}
	}
	for _, v := range values {
		ops = append(ops, Operation{Op: "add", Path: ordered.Pointer(path...) + "/-", Value: v})
	}
	return ops, nil
}
