package patch

import (
	"slices"

	"atelier/media"
	"atelier/workflow/ordered"
)

// applier changes a copy of a document in place.
type applier struct {
	root    *ordered.Object
	touched []string
}

func (a *applier) touch(pointer string) {
	if !slices.Contains(a.touched, pointer) {
		a.touched = append(a.touched, pointer)
	}
}

func (a *applier) apply(op Operation) error {
	path, err := ordered.Path(op.Path)
	if err != nil {
		return err
	}
	if len(path) == 0 || slices.Contains(path, ordered.Forbidden) {
		return media.Errorf(media.CodeInvalid, "%q cannot be changed", media.ErrorText(op.Path))
	}
	if op.Op == "test" {
		v, ok := ordered.Get(a.root, path...)
		if !ok || !ordered.Equal(v, op.Value) {
			return media.Errorf(media.CodeInvalid, "%s does not have the value that test expects", media.ErrorText(op.Path))
		}
		return nil
	}
	above, key := path[:len(path)-1], path[len(path)-1]
	parent, ok := ordered.Get(a.root, above...)
	if !ok {
		return missingPathError(op.Path)
	}
	value := ordered.Clone(op.Value)
	switch parent := parent.(type) {
	case *ordered.Object:
		if !parent.Has(key) && op.Op != "add" {
			return missingPathError(op.Path)
		}
		if op.Op == "remove" {
			parent.Delete(key)
		} else {
			parent.Set(key, value)
		}
		a.touch(op.Path)
		return nil
	case []any:
		return a.list(op, above, parent, value)
	}
	return missingPathError(op.Path)
}

// list changes an item of a list. Adding or removing an item moves the items after it, so it touches the whole list.
func (a *applier) list(op Operation, above []string, list []any, value any) error {
	key := op.Path[len(ordered.Pointer(above...))+1:]
	i, ok := ordered.Index(key)
	if key == "-" && op.Op == "add" {
		i, ok = len(list), true
	}
	if !ok || i > len(list) || i == len(list) && op.Op != "add" {
		return missingPathError(op.Path)
	}
	switch op.Op {
	case "replace":
		list[i] = value
		a.touch(op.Path)
		return nil
	case "add":
		list = slices.Insert(list, i, value)
	default:
		list = slices.Delete(list, i, i+1)
	}
	a.touch(ordered.Pointer(above...))
	parent, _ := ordered.Get(a.root, above[:len(above)-1]...) // its length has changed: the parent gets the new list
	switch key := above[len(above)-1]; parent := parent.(type) {
	case *ordered.Object:
		parent.Set(key, list)
	case []any:
		if i, ok := ordered.Index(key); ok {
			parent[i] = list
		}
	}
	return nil
}

func missingPathError(pointer string) error {
	return media.Errorf(media.CodeInvalid, "%s does not exist", media.ErrorText(pointer))
}
