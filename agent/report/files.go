package report

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"atelier/agent"
	"atelier/media"
)

// Files writes the items into the folder dir/media under [agent.FileName] names and
// returns the path of each, relative to dir, by ref. A file appears whole or not at
// all. Items that fail are left out; the first error is returned after the rest was
// written.
func Files(ctx context.Context, dir string, items []media.Output, codec agent.Codec) (map[media.Ref]string, error) {
	paths := map[media.Ref]string{}
	folder := filepath.Join(dir, "media")
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return paths, media.Errorf(media.CodeInvalid, "create folder %s: %w", folder, err)
	}
	var first error
	for _, o := range items {
		name := agent.FileName(o)
		if err := writeFile(ctx, folder, name, o, codec); err != nil {
			if first == nil {
				first = fmt.Errorf("write %s: %w", o.Ref, err)
			}
			continue
		}
		paths[o.Ref] = "media/" + name
	}
	return paths, first
}

func writeFile(ctx context.Context, folder, name string, o media.Output, codec agent.Codec) (err error) {
	src, err := codec.Open(ctx, o.Digest)
	if err != nil {
		return err
	}
	defer func() { _ = src.Close() }() // read only
	f, err := os.CreateTemp(folder, ".tmp-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name()) // the first error counts
		}
	}()
	_, err = io.Copy(f, src)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Chmod(f.Name(), 0o644) //nolint:gosec // an export that people open and share.
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), filepath.Join(folder, name))
}
