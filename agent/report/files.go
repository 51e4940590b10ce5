package report

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"atelier/agent"
	"atelier/media"
)

// Files writes the items into the folder dir/media under [agent.FileName] names and
// returns the path of each, relative to dir, by ref. A file appears whole or not at
// all. In HTML and Markdown that the run made, placeholders become the names of the
// files beside them, and links of Markdown that run code lead nowhere; everything else is written byte for byte. Items that fail are left out; the first error is returned after the rest was
// written.
func Files(ctx context.Context, dir string, items []media.Output, codec agent.Codec) (map[media.Ref]string, error) {
	paths := map[media.Ref]string{}
	folder := filepath.Join(dir, "media")
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return paths, media.Errorf(media.CodeInvalid, "create folder %s: %w", folder, err)
	}
	var first error
	e := export{folder: folder, items: items, codec: codec}
	for _, o := range items {
		name := agent.FileName(o)
		if err := e.write(ctx, name, o); err != nil {
			if first == nil {
				first = fmt.Errorf("write %s: %w", o.Ref, err)
			}
			continue
		}
		paths[o.Ref] = "media/" + name
	}
	return paths, first
}

// export is one call of Files.
type export struct {
	folder string
	items  []media.Output
	codec  agent.Codec
}

func (e export) write(ctx context.Context, name string, o media.Output) (err error) {
	src, err := e.codec.Open(ctx, o.Digest)
	if err != nil {
		return err
	}
	defer func() { _ = src.Close() }() // read only
	f, err := os.CreateTemp(e.folder, ".tmp-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name()) // the first error counts
		}
	}()
	if format := written(o); format != "" {
		err = e.resolve(ctx, f, src, format)
	} else {
		_, err = io.Copy(f, src)
	}
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
	return os.Rename(f.Name(), filepath.Join(e.folder, name))
}

// written is the format of a document that an agent wrote, which may hold placeholders.
func written(o media.Output) agent.Format {
	if o.Origin.Direction == "input" {
		return ""
	}
	switch o.MIMEType {
	case "text/html":
		return agent.FormatHTML
	case "text/markdown":
		return agent.FormatMarkdown
	}
	return ""
}

// resolve writes a document with the names of the files beside it.
func (e export) resolve(ctx context.Context, w io.Writer, r io.Reader, format agent.Format) error {
	b, err := io.ReadAll(r) // a document is under its limit
	if err != nil {
		return err
	}
	text := string(b)
	if format == agent.FormatMarkdown {
		text = withoutActiveLinks(text)
	}
	buffered := bufio.NewWriter(w)
	err = agent.Resolve(ctx, buffered, text, agent.Resolution{
		Mode: agent.ModeFile, Format: format, File: agent.FileName,
		Find: func(ref media.Ref) (media.Output, bool) {
			i := slices.IndexFunc(e.items, func(o media.Output) bool { return o.Ref == ref })
			if i < 0 {
				return media.Output{}, false
			}
			return e.items[i], true
		},
	})
	if err != nil {
		return err
	}
	return buffered.Flush()
}
