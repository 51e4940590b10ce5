package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"atelier/agent/resolve"
	"atelier/internal/disk"
	"atelier/media"
	"atelier/media/imaging"
)

// toStdout is the file name that means standard output.
const toStdout = "-"

// piped returns the world of a command whose bytes go to standard output. Its text goes to standard error.
func (w *world) piped() *world {
	p := *w
	p.bytes, p.stdout = w.stdout, w.stderr
	return &p
}

// bothToStdout returns the error for a JSON document and a file that would share standard output.
func bothToStdout() error {
	return media.Errorf(media.CodeInvalid, "-o - and --json both write to standard output: name a file, or omit --json")
}

// writeItem writes an item to a file or to standard output, and reports the file and its AI marking.
func (w *world) writeItem(s *stores, o media.Output, path string, asJSON bool) error {
	if path == toStdout && asJSON {
		return bothToStdout()
	}
	file := savedFile{path: path}
	write := func(f io.Writer) (err error) {
		file.marking, err = s.copyTo(w.ctx, f, o)
		return err
	}
	var err error
	if path == toStdout {
		w, file.path = w.piped(), "standard output"
		err = write(w.bytes)
	} else {
		err = writeTo(path, write)
	}
	switch {
	case err != nil:
		return err
	case asJSON:
		err = w.printJSON(viewOf(o, file))
	case path != toStdout:
		w.line("%s", path)
	}
	if foreignSVG(o) {
		w.warnings([]string{rawSVG(file.path)})
	}
	if note := file.note(); note != "" {
		w.note("%s", note)
	}
	return err
}

// savedFile is the copy of an item.
type savedFile struct {
	// path is empty if nothing was written.
	path    string
	marking imaging.Marking
}

// note returns what a user must know about the marking of the file; empty for one with the label.
func (c savedFile) note() string {
	switch c.marking {
	case imaging.MarkingSigned:
		return c.path + " is the provider's unchanged, signed original (C2PA): its signature states how it was made"
	case imaging.MarkingNone:
		return c.path + " has no AI label, because files of its type cannot carry one: state yourself that it was made by AI"
	case imaging.MarkingLabel, imaging.MarkingAdded:
	}
	return ""
}

// copyTo writes an item to w, with the AI label if it needs one.
func (s *stores) copyTo(ctx context.Context, w io.Writer, o media.Output) (imaging.Marking, error) {
	return imaging.Export(w, o, func() (io.ReadCloser, error) { return s.Blobs.Open(ctx, o.Digest) })
}

// save writes a result to a file, whose extension follows the bytes, or to standard output.
func (w *world) save(ctx context.Context, s *stores, o media.Output, name string) (savedFile, error) {
	// Write what was paid for even if the command is cancelled.
	ctx = context.WithoutCancel(ctx)
	kept := func(c savedFile, err error) (savedFile, error) {
		if err != nil {
			return savedFile{}, media.Errorf(media.CodeOf(err), "%w; the item itself is stored: atelier media get %s", err, o.Ref)
		}
		return c, nil
	}
	switch name {
	case "":
		return savedFile{}, nil
	case toStdout:
		marking, err := s.copyTo(ctx, w.bytes, o)
		return kept(savedFile{"standard output", marking}, err)
	}
	ext := filepath.Ext(name)
	if real := filepath.Ext(resolve.FileName(o)); !sameFormat(ext, real) {
		name = strings.TrimSuffix(name, ext) + real
	}
	c := savedFile{path: name}
	err := writeTo(name, func(f io.Writer) (err error) {
		c.marking, err = s.copyTo(ctx, f, o)
		return err
	})
	return kept(c, err)
}

// writeTo writes a file, which appears only once it is complete, or into a device or a pipe.
func writeTo(name string, write func(io.Writer) error) error {
	info, err := os.Stat(name)
	switch {
	case err != nil || info.Mode().IsRegular():
		return disk.Write(name, write)
	case info.IsDir():
		return media.Errorf(media.CodeInvalid, "write %s: it is a folder: add a file name", name)
	}
	f, err := os.OpenFile(name, os.O_WRONLY, 0) //nolint:gosec // the user names the file
	if err == nil {
		err = errors.Join(write(f), f.Close())
	}
	if err != nil {
		return disk.Error("write "+name, err)
	}
	return nil
}
