package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"atelier/agent"
	"atelier/imaging"
	"atelier/media"
)

// toStdout is the name of a file that means standard output.
const toStdout = "-"

// piped is the world of a command whose bytes go to standard output: what it says goes beside
// them.
func (w *world) piped() *world {
	p := *w
	p.bytes, p.stdout = w.stdout, w.stderr
	return &p
}

// copied is what an item was written to.
type copied struct {
	// path is empty where nothing was written.
	path    string
	marking imaging.Marking
}

// note says of a file what a person has to know of how it is marked; empty for one with the label.
func (c copied) note() string {
	switch c.marking {
	case imaging.MarkingSigned:
		return c.path + " is the provider's signed original (C2PA), byte for byte: its signature tells how it was made"
	case imaging.MarkingNone:
		return c.path + " carries no AI label, because nothing is written into files of its type: say yourself that AI made it"
	case imaging.MarkingLabel, imaging.MarkingAdded:
	}
	return ""
}

// copyTo copies an item out, with the AI label where it needs one.
func (s *stores) copyTo(ctx context.Context, w io.Writer, o media.Output) (imaging.Marking, error) {
	return imaging.Export(w, o, func() (io.ReadCloser, error) { return s.blobs.Open(ctx, o.Digest) })
}

// save copies one result to a file, whose ending follows the bytes, or to standard output.
func (w *world) save(ctx context.Context, s *stores, o media.Output, name string) (copied, error) {
	// What is paid for is written even if the command is being cancelled.
	ctx = context.WithoutCancel(ctx)
	kept := func(c copied, err error) (copied, error) {
		if err != nil {
			return copied{}, media.Errorf(media.CodeOf(err), "%w; it is kept: atelier media get %s", err, o.Ref)
		}
		return c, nil
	}
	switch name {
	case "":
		return copied{}, nil
	case toStdout:
		marking, err := s.copyTo(ctx, w.bytes, o)
		return kept(copied{"standard output", marking}, err)
	}
	ext := filepath.Ext(name)
	if real := filepath.Ext(agent.FileName(o)); !sameFormat(ext, real) {
		name = strings.TrimSuffix(name, ext) + real
	}
	c := copied{path: name}
	err := writeTo(name, func(f io.Writer) (err error) {
		c.marking, err = s.copyTo(ctx, f, o)
		return err
	})
	return kept(c, err)
}

// writeTo writes a new file beside name and moves it there when it is whole.
func writeTo(name string, write func(io.Writer) error) error {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return media.Errorf(media.CodeInvalid, "write %s: it is a folder: add the name of a file", name)
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".atelier-*")
	if err != nil {
		return diskError("write "+name, err)
	}
	defer func() { _ = os.Remove(f.Name()) }()
	if err := errors.Join(write(f), f.Chmod(0o644), f.Close()); err != nil {
		return diskError("write "+name, err)
	}
	if err := os.Rename(f.Name(), name); err != nil {
		return diskError("write "+name, err)
	}
	return nil
}
