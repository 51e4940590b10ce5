package atelier

import (
	"cmp"
	"context"
	"io"

	"atelier/internal/disk"
	"atelier/ledger"
	"atelier/media"
	"atelier/media/wire"
)

// Media returns a stored item by its id or its ref. If several items have the ref, it returns the newest. The error for
// an item of another owner has code media.CodeNotFound.
func (a *Atelier) Media(ctx context.Context, name string) (media.Output, error) {
	rec, err := a.record(ctx, name)
	return rec.Output, err
}

// record returns the record of an item.
func (a *Atelier) record(ctx context.Context, name string) (ledger.Record, error) {
	ref, err := media.ParseRef(name)
	if err != nil {
		rec, err := a.Ledger.MediaRecord(ctx, a.owner(ctx), name)
		return rec, describeNotFound(err, "media item", name)
	}
	list, err := a.Ledger.ListMedia(ctx, a.owner(ctx), ledger.MediaQuery{Ref: ref, Page: ledger.Page{Limit: 1}})
	if err == nil && len(list.Items) == 0 {
		err = media.Errorf(media.CodeNotFound, "no media item has the ref %s", ref)
	}
	if err != nil {
		return ledger.Record{}, err
	}
	return list.Items[0], nil
}

// Store reads r to its end, stores it, and records it as an input of the owner. The output can be an input or the mask
// of a [generate.Request], and be granted to an agent. m.MIMEType applies only to bytes without a signature; a missing
// label is the file name.
func (a *Atelier) Store(ctx context.Context, r io.Reader, m media.Meta) (media.Output, error) {
	ctx = a.Scoped(ctx, newID())
	b, err := a.Codec.Store(ctx, r, m.MIMEType)
	if err != nil {
		return media.Output{}, err
	}
	m.FileName = wire.NameMedia(m.FileName)
	m.Label = cmp.Or(wire.NameMedia(m.Label), m.FileName)
	o := media.NewOutput(b, m)
	o.Origin = media.Origin{Direction: "input", Source: "upload"}
	return a.Ledger.Record(ctx, o)
}

// OpenMedia opens the bytes of an item. The caller must close the reader.
func (a *Atelier) OpenMedia(ctx context.Context, o media.Output) (io.ReadCloser, error) {
	return a.Blobs.Open(ctx, o.Digest)
}

// Save writes an item to a file. An existing file is replaced when all bytes are written.
func (a *Atelier) Save(ctx context.Context, o media.Output, path string) error {
	in, err := a.OpenMedia(ctx, o)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // opened for reading only
	return disk.Write(path, func(w io.Writer) error {
		_, err := io.Copy(w, in)
		return err
	})
}
