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

// writeItem writes an item to a file or to standard output, and reports the file and its AI marking. A file whose
// extension is that of another type is refused.
func (w *world) writeItem(s *stores, o media.Output, path string) error {
	w, err := resultFlags{Output: path}.piped(w)
	if err != nil {
		return err
	}
	if ext, real := filepath.Ext(path), filepath.Ext(resolve.FileName(o)); resolve.IsExtension(ext) && !sameFormat(ext, real) {
		return media.Errorf(media.CodeInvalid, "-o %s: the file would be %s: use the extension %s", path, o.MIMEType, real)
	}
	file, err := w.write(w.ctx, s, o, path)
	switch {
	case err != nil:
		return err
	case w.json:
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

// write writes an item, with the AI label if it needs one, to a file or to standard output.
func (w *world) write(ctx context.Context, s *stores, o media.Output, path string) (file savedFile, err error) {
	write := func(to io.Writer) (err error) {
		file.marking, err = imaging.Export(to, o, func() (io.ReadCloser, error) { return s.Blobs.Open(ctx, o.Digest) })
		return err
	}
	file.path = path
	if path == toStdout {
		file.path, err = "standard output", write(w.bytes)
	} else {
		err = writeTo(path, write)
	}
	return file, err
}

// save writes a result to a file, whose extension follows the bytes, or to standard output.
func (w *world) save(ctx context.Context, s *stores, o media.Output, name string) (savedFile, error) {
	if name == "" {
		return savedFile{}, nil
	}
	ext := filepath.Ext(name)
	if real := filepath.Ext(resolve.FileName(o)); name != toStdout && !sameFormat(ext, real) {
		name = strings.TrimSuffix(name, ext) + real
	}
	file, err := w.write(context.WithoutCancel(ctx), s, o, name) // also if the command is cancelled: it was paid for
	if err != nil {
		return savedFile{}, media.Errorf(media.CodeOf(err), "%w; the item itself is stored: atelier media get %s", err, o.Ref)
	}
	return file, nil
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
