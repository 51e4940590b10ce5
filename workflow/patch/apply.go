package patch

import (
	"slices"
	"strings"

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
	_, err = a.change(a.root, path, op)
	return err
}

// change applies an operation to the part of the document in which a path begins, and returns the new part.
func (a *applier) change(v any, path []string, op Operation) (any, error) {
	key := path[0]
	if len(path) > 1 {
		child, ok := ordered.Get(v, key)
		if !ok {
			return nil, missingPathError(op.Path)
		}
		child, err := a.change(child, path[1:], op)
		if err != nil {
			return nil, err
		}
		if list, ok := v.([]any); ok {
			i, _ := ordered.Index(key)
			list[i] = child
		} else {
			v.(*ordered.Object).Set(key, child)
		}
		return v, nil
	}
	value := ordered.Clone(op.Value)
	switch v := v.(type) {
	case *ordered.Object:
		if !v.Has(key) && op.Op != "add" {
			return nil, missingPathError(op.Path)
		}
		if op.Op == "remove" {
			v.Delete(key)
		} else {
			v.Set(key, value)
		}
		a.touch(op.Path)
		return v, nil
	case []any:
		i, ok := ordered.Index(key)
		if key == "-" && op.Op == "add" {
			i, ok = len(v), true
		}
		switch {
		case !ok || i > len(v) || i == len(v) && op.Op != "add":
			return nil, missingPathError(op.Path)
		case op.Op == "replace":
			v[i] = value
			a.touch(op.Path)
			return v, nil
		}
		a.touch(op.Path[:strings.LastIndexByte(op.Path, '/')]) // the items after it move: the whole list is touched
		if op.Op == "add" {
			return slices.Insert(v, i, value), nil
		}
		return slices.Delete(v, i, i+1), nil
	}
	return nil, missingPathError(op.Path)
}

func missingPathError(pointer string) error {
	return media.Errorf(media.CodeInvalid, "%s does not exist", media.ErrorText(pointer))
}
