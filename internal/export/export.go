// Package export creates media files for the module media.export.
//
// Errors are those of the ledger, the codec and imaging. It may import imaging, internal/folder,
// ledger, media, run/workflows, wire and workflow/module.
package export

import (
	"context"
	"errors"
	"io"
	"maps"
	"path/filepath"
	"strings"

	"atelier/internal/folder"
	"atelier/ledger"
	"atelier/media/wire"

	"atelier/media"
	"atelier/media/imaging"
	"atelier/run/workflows"
	"atelier/workflow/module"
)

// Exports writes media for use outside Atelier, with the AI label, and stores the files as items of the run.
type Exports struct {
	Ledger ledger.Store
	Codec  *wire.Codec
}

var _ module.Exports = Exports{}

// Export creates a file for each item. The format applies to pictures; other items stay as they are.
func (e Exports) Export(ctx context.Context, owner string, ids []string, format string) ([]module.File, error) {
	files, taken := []module.File{}, map[string]media.Digest{}
	for _, id := range ids {
		o, err := workflows.Item(ctx, e.Ledger, owner, media.ScopeOf(ctx).Tree, id)
		if err != nil {
			return nil, err
		}
		out, err := e.export(ctx, o, imaging.Format(format))
		if err != nil {
			return nil, err
		}
		name := folder.Free(folder.NameOf(out), out.Digest, taken)
		taken[name] = out.Digest
		files = append(files, module.File{Name: name, URL: "/media/" + out.ID})
	}
	return files, nil
}

// export creates the file of one item and records it.
func (e Exports) export(ctx context.Context, o media.Output, format imaging.Format) (media.Output, error) {
	open := func() (io.ReadCloser, error) { return e.Codec.Open(ctx, o.Digest) }
	labelled, w := io.Pipe()
	go func() {
		_, err := imaging.Export(w, o, open)
		w.CloseWithError(err)
	}()
	defer func() { _ = labelled.Close() }() // makes its writer end
	in := labelled
	if format != "" && o.Modality == media.ModalityImage && format.MIMEType() != o.MIMEType {
		made, w := io.Pipe()
		go func() {
			_, err := imaging.Transcode(ctx, w, labelled, imaging.Job{Facts: o.Facts, Format: format})
			w.CloseWithError(err)
		}()
		defer func() { _ = made.Close() }() // makes its writer end
		in = made
	}
	b, err := e.Codec.Store(ctx, in, "")
	if err != nil {
		return media.Output{}, errors.Join(err, in.CloseWithError(err))
	}
	if b.Digest == o.Digest {
		return o, nil
	}
	name := o.FileName
	if name != "" && in != labelled {
		name = strings.TrimSuffix(o.FileName, filepath.Ext(o.FileName)) + format.Extension()
	}
	made := media.NewOutput(b, media.Meta{
		FileName: name, Label: o.Label, Description: o.Description, Metadata: maps.Clone(o.Metadata), Lineage: []media.Parent{{Ref: o.Ref, Role: "input"}},
	})
	made.Origin.Source = "media.export"
	return e.Ledger.Record(ctx, made)
}
