package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"atelier/agent"
	"atelier/generate"
	"atelier/ledger"
	"atelier/media"
)

// inputFlags name the input pictures of a command.
type inputFlags struct {
	Edit []string `help:"A picture to edit: a file, or the ref or id of a stored item. Repeat the flag for further reference pictures." placeholder:"FILE|REF" sep:"none"`
	Mask string   `help:"The area of the first --edit picture to change: a picture of the same size that is transparent (or white) there." placeholder:"FILE|REF"`
	Vary string   `help:"A picture to make variations of. The prompt is then optional." placeholder:"FILE|REF"`
}

// check rejects flags that cannot be combined, and a missing prompt.
func (f inputFlags) check(prompt string) error {
	switch {
	case len(f.Edit) > 0 && f.Vary != "":
		return media.Errorf(media.CodeInvalid, "--edit and --vary cannot be used together: choose one")
	case f.Mask != "" && len(f.Edit) == 0:
		return media.Errorf(media.CodeInvalid, "--mask requires --edit: name the picture to edit with --edit")
	case prompt == "" && f.Vary == "" && len(f.Edit) == 0: // with input pictures, the prompt is optional
		return media.Errorf(media.CodeInvalid, "the prompt is missing: describe the picture, or give the text to speak")
	}
	return nil
}

// fill adds the pictures to a request. They are recorded as inputs when the request is accepted;
// a refused request leaves no record.
func (f inputFlags) fill(ctx context.Context, a *app, r *generate.Request) error {
	r.Accept = recordOnce(a.Ledger)
	flag, names := "--edit", f.Edit
	switch {
	case len(f.Edit) > 0:
		r.Method = generate.MethodEdit
	case f.Vary != "":
		r.Method, flag, names = generate.MethodVariation, "--vary", []string{f.Vary}
	}
	for _, name := range names {
		o, err := a.input(ctx, flag, name)
		if err != nil {
			return err
		}
		r.Inputs = append(r.Inputs, o)
	}
	if f.Mask == "" {
		return nil
	}
	o, err := a.input(ctx, "--mask", f.Mask)
	if err == nil {
		r.Mask = &o
	}
	return err
}

// input stores a file, or finds a stored item of this owner. A file takes precedence over an item of the same name.
func (a *app) input(ctx context.Context, flag, name string) (media.Output, error) {
	o, err := a.inputFile(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		var r ledger.Record
		r, err = a.storedInput(ctx, name)
		o = r.Output
		o.Promoted, o.Origin.Direction = false, "input"
	}
	if err != nil {
		err = media.Errorf(media.CodeOf(err), "%s: %w", flag, err)
	}
	return o, err
}

// storedInput finds a stored item whose name is not that of a file.
func (a *app) storedInput(ctx context.Context, name string) (ledger.Record, error) {
	r, err := mediaArg{Item: name}.find(ctx, a.stores())
	if media.CodeOf(err) == media.CodeNotFound {
		err = media.Errorf(media.CodeNotFound, "%s is neither a file nor a stored item: see `atelier media list`", name)
	}
	return r, err
}

// recordOnce returns a function that records the input pictures of a command, each once even if several models are
// called.
func recordOnce(ledger media.Recorder) func(context.Context, media.Output) (media.Output, error) {
	var mu sync.Mutex // guards recorded
	recorded := map[media.Digest]media.Output{}
	return func(ctx context.Context, o media.Output) (_ media.Output, err error) {
		mu.Lock()
		defer mu.Unlock()
		if known, ok := recorded[o.Digest]; ok {
			return known, nil
		}
		if o, err = ledger.Record(ctx, o); err == nil {
			recorded[o.Digest] = o
		}
		return o, err
	}
}

func (a *app) inputFile(ctx context.Context, name string) (media.Output, error) {
	f, err := os.Open(name) //nolint:gosec // the user names the file
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return media.Output{}, err
		}
		return media.Output{}, media.Errorf(media.CodeInvalid, "read the picture %s: %w", name, err)
	}
	defer func() { _ = f.Close() }() // opened for reading only
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return media.Output{}, media.Errorf(media.CodeInvalid, "%s is a folder: name one picture in it", name)
	}
	b, err := a.Codec.Store(ctx, f, "")
	if err != nil {
		return media.Output{}, media.Errorf(media.CodeOf(err), "store the picture %s: %w", name, err)
	}
	base := filepath.Base(name)
	o := media.NewOutput(b, media.Meta{Label: base, FileName: base})
	o.Origin = media.Origin{Direction: "input", Source: "command line"}
	return o, nil
}

// images returns the pictures of the message. A file takes precedence over a stored item of the
// same name. A ref has a meaning only within the run and its conversation, which the service knows.
func images(ctx context.Context, a *app, names []string, detail string) ([]agent.Image, error) {
	var out []agent.Image
	for _, name := range names {
		image := agent.Image{Path: name, Detail: detail}
		if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
			r, err := a.storedInput(ctx, name)
			if err != nil {
				return nil, err
			}
			if image.Path, image.ID = "", r.ID; strings.HasPrefix(string(r.Ref), strings.ToLower(strings.TrimSpace(name))) {
				image.ID, image.Ref = "", r.Ref
			}
		}
		out = append(out, image)
	}
	return out, nil
}
