package gateway

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"maps"
	"strings"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/generate/driver"
	"atelier/generate/internal/fault"
	"atelier/generate/plan"
	"atelier/media"
	"atelier/media/imaging"
)

// output turns an item into an output, which is recorded with its slot, or returns why it cannot.
func (d *delivery) output(ctx context.Context, item driver.Item, index int, metadata map[string]any) (media.Output, *media.Error) {
	if err := d.ensureBlob(ctx, &item); err != nil {
		return media.Output{}, err
	}
	if err := d.validateBlob(*item.Blob); err != nil {
		return media.Output{}, err
	}
	o := d.describe(ctx, *item.Blob, index, metadata)
	item.Keep(o.Metadata)
	if words := item.UnknownWords(); words != "" {
		d.x.notes.warn(d.call.plan.Model.Name + " does not know these words, and the picture does not show them: " + words)
	}
	if item.Seed != nil {
		o.Metadata["seed"] = *item.Seed
	}
	if item.Parent != nil {
		o.Lineage = append(o.Lineage, *item.Parent)
	}
	declared, _, _ := strings.Cut(strings.ToLower(item.DeclaredMIME), ";")
	declared = strings.TrimSpace(declared)
	if declared == "image/jpg" {
		declared = "image/jpeg"
	}
	if declared != "" && declared != o.MIMEType && declared != "application/octet-stream" {
		o.Metadata["declared_mime_type"] = fault.Quote(declared)
		d.x.notes.warn(fmt.Sprintf("%s declared %s and sent %s; the bytes count", d.call.plan.Model.Name, fault.Quote(declared), o.MIMEType))
	}
	return d.inFormat(ctx, o), nil
}

func (d *delivery) ensureBlob(ctx context.Context, item *driver.Item) *media.Error {
	switch {
	case item.Err != nil:
		return fault.Of(item.Err)
	case item.Blob != nil:
		return nil
	case strings.TrimSpace(item.Text) != "":
		store := d.x.g.config.Storage
		if store == nil {
			return media.Errorf(media.CodeUnsupported, "the result is a text, and this gateway was set up without Storage")
		}
		b, err := store.Store(ctx, strings.NewReader(strings.TrimSpace(item.Text)+"\n"), "text/plain")
		if err != nil {
			return fault.Of(fault.Wrap("store text", err))
		}
		item.Blob = &b
		return nil
	case item.URL == "":
		return media.Errorf(media.CodeBadResponse, "%s answered with an empty result", d.call.plan.Model.Name)
	}
	got, err := d.fetch(ctx, item.URL)
	if err != nil {
		return fault.Of(err)
	}
	item.Blob, item.DeclaredMIME = &got.blob, cmp.Or(item.DeclaredMIME, got.declared)
	return nil
}

// validateBlob checks the sniffed facts; the provider's declaration does not count.
func (d *delivery) validateBlob(b media.Blob) *media.Error {
	model := d.call.plan.Model
	want := model.Modality
	have := media.ModalityOf(b.MIMEType)
	mime := b.MIMEType
	if mime == "" {
		mime = "something unknown"
	}
	switch {
	case b.Digest.IsZero():
		return media.Errorf(media.CodeBadResponse, "%s answered with media that could not be stored", model.Name)
	case have != want:
		return media.Errorf(media.CodeBadResponse, "%s answered with %s instead of %s: try again or use another model", model.Name, mime, want)
	case want != media.ModalityImage:
		return nil
	case b.Width == 1 && b.Height == 1:
		return media.Errorf(media.CodeBadResponse, "%s answered with a picture of 1 × 1 pixel: try again or use another model", model.Name)
	case b.Width == 0 && catalog.IsRaster(mime):
		return media.Errorf(media.CodeBadResponse, "%s answered with %s that cannot be read: try again or use another model", model.Name, mime)
	}
	if err := (imaging.Limits{}).Check(b.Facts); err != nil {
		return fault.Of(fault.Wrap("accept the picture of "+model.Name, err))
	}
	return nil
}

// inFormat converts an output into the requested format if it has another one. The original is recorded first and is
// the parent. An output that cannot be converted is kept.
func (d *delivery) inFormat(ctx context.Context, o media.Output) media.Output {
	x := d.x
	f := d.call.plan.Request.OutputFormat
	if f == "" || o.Modality != media.ModalityImage || !plan.Writable(f) {
		return o
	}
	if o.MIMEType == "image/"+f {
		x.board.noteFormat(func(n *formats) { n.native = true })
		return o
	}
	o = x.recorder.output(ctx, o)
	b, err := d.convert(ctx, o, f)
	if err != nil {
		x.board.noteFormat(func(n *formats) { n.unconverted, n.why = strings.TrimPrefix(o.MIMEType, "image/"), err.Error() })
		return o
	}
	x.board.noteFormat(func(n *formats) { n.converted = strings.TrimPrefix(o.MIMEType, "image/") })
	converted := o
	converted.ID, converted.Blob = "", b
	converted.Ref = media.RefOf(o.Modality, b.Digest)
	converted.Lineage = append(append([]media.Parent(nil), o.Lineage...), media.Parent{Ref: o.Ref, Role: "input"})
	return converted
}

// convert converts a picture to another format, marked as made by a model: with the original's mark, or a new one.
func (d *delivery) convert(ctx context.Context, o media.Output, format string) (media.Blob, error) {
	job := imaging.Job{Facts: o.Facts, Format: imaging.Format(format), Quality: plan.ConvertQuality}
	if q := d.call.plan.Request.Compression; q != nil {
		job.Quality = max(1, *q)
	}
	if d.call.plan.Model.Provider != plan.Offline {
		job.Label = imaging.Generated(d.call.plan.Model.Name, "Atelier")
		job.Label.SourceType = d.call.plan.SourceType()
	}
	return d.x.g.Transcode(ctx, o, job)
}

// cut keeps a grid that arrived and returns an item for each tile, row by row. A grid that cannot be cut is itself the
// result.
func (d *delivery) cut(ctx context.Context, item driver.Item, metadata map[string]any) ([]driver.Item, *media.Error) {
	x := d.x
	tiles := *item.Tiles
	item.Tiles = nil
	if err := d.validateBlob(*item.Blob); err != nil {
		return nil, err
	}
	if tiles.Columns < 1 || tiles.Rows < 1 || tiles.Columns*tiles.Rows > catalog.MaxTiles {
		return []driver.Item{item}, nil
	}
	whole := item
	whole.Metadata = join(item.Metadata, map[string]any{"tiles": tiles.Columns * tiles.Rows})
	if x.g.config.Storage == nil {
		return []driver.Item{whole}, nil
	}
	grid := d.describe(ctx, *item.Blob, d.call.slots[0], metadata)
	grid.Label += " (grid)"
	whole.Keep(grid.Metadata)
	grid = x.recorder.output(ctx, grid)
	parts, err := d.slice(ctx, grid, tiles)
	if media.CodeOf(err) == media.CodeDiskFull {
		return nil, fault.Of(err)
	}
	if err != nil {
		x.notes.warn(fmt.Sprintf("the grid %s could not be cut, so it is the result: %s", grid.Ref, fault.Of(err).Message))
		return []driver.Item{whole}, nil
	}
	items := make([]driver.Item, len(parts))
	for i := range parts {
		meta := maps.Clone(item.Metadata)
		if meta == nil {
			meta = map[string]any{}
		}
		meta["tile"] = i + 1
		items[i] = driver.Item{
			Blob: &parts[i], RevisedPrompt: item.RevisedPrompt, Seed: item.Seed, Safety: item.Safety, Metadata: meta, Offers: item.Offers,
			Parent: &media.Parent{Ref: grid.Ref, Role: "tile"},
		}
	}
	return items, nil
}

// slice cuts a stored grid into stored pictures. If the size does not divide evenly, the last column and row get the
// rest.
func (d *delivery) slice(ctx context.Context, grid media.Output, t driver.Tiles) ([]media.Blob, error) {
	store := d.x.g.config.Storage
	r, err := store.Open(ctx, grid.Digest)
	if err != nil {
		return nil, fault.Wrap("open grid", err)
	}
	whole, err := imaging.Decode(ctx, r, grid.Facts, imaging.Limits{})
	if err = errors.Join(err, r.Close()); err != nil {
		return nil, fault.Wrap("read grid", err)
	}
	sub, ok := whole.(interface {
		SubImage(r image.Rectangle) image.Image
	})
	if !ok || whole.Bounds().Dx() < t.Columns || whole.Bounds().Dy() < t.Rows {
		return nil, media.Errorf(media.CodeBadResponse, "a picture of %v cannot be cut into %d × %d", whole.Bounds().Size(), t.Columns, t.Rows)
	}
	b := whole.Bounds()
	var out []media.Blob
	for i := range t.Columns * t.Rows {
		column, row := i%t.Columns, i/t.Columns
		tile := image.Rect(
			b.Min.X+column*b.Dx()/t.Columns, b.Min.Y+row*b.Dy()/t.Rows,
			b.Min.X+(column+1)*b.Dx()/t.Columns, b.Min.Y+(row+1)*b.Dy()/t.Rows,
		)
		var buf bytes.Buffer // one encoded tile within the pixel limit
		if err := imaging.EncodePNG(&buf, sub.SubImage(tile), imaging.Generated(d.call.plan.Model.Name, "Atelier")); err != nil {
			return nil, fault.Wrap("write tile", err)
		}
		blob, err := store.Store(ctx, &buf, "image/png")
		if err != nil {
			return nil, fault.Wrap("store tile", err)
		}
		out = append(out, blob)
	}
	return out, nil
}

func (d *delivery) describe(ctx context.Context, b media.Blob, index int, metadata map[string]any) media.Output {
	x, pl := d.x, d.call.plan
	label := pl.Request.Label
	switch {
	case label == "":
		label = fmt.Sprintf("Generated %s %d", x.op.Modality, index)
	case x.op.N > 1:
		label = fmt.Sprintf("%s %d", label, index)
	}
	meta := map[string]any{
		"model": pl.Model.Name, "api_model": pl.Model.APIModel, "provider": pl.Model.Provider, "digital_source_type": plan.Term(pl.SourceType()),
	}
	maps.Copy(meta, metadata)
	note, _ := metadata["note"].(string) // a driver's remark about how its results are made
	o := media.NewOutput(b, media.Meta{Label: label, Description: note, Metadata: meta})
	for _, in := range pl.Request.Inputs {
		role := "input"
		if x.op.Method == generate.MethodVariation {
			role = "variation"
		}
		o.Lineage = append(o.Lineage, media.Parent{Ref: in.Ref, Role: role})
	}
	if m := pl.Request.Mask; m != nil {
		o.Lineage = append(o.Lineage, media.Parent{Ref: m.Ref, Role: "mask"})
	}
	o.Origin = media.Origin{Direction: "output", Source: pl.Model.Name, AgentPath: media.ScopeOf(ctx).AgentPath, Operation: x.op.ID}
	o.CreatedAt = x.g.config.Now().UTC()
	return o
}
