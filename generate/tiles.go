package generate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"maps"

	"atelier/imaging"
	"atelier/media"
)

// maxTiles bounds the results of one grid.
const maxTiles = 16

// cut keeps a grid that arrived and makes an item of every tile, row by row. A grid that
// cannot be cut is a result as it is.
func (d *delivery) cut(ctx context.Context, item Item, said map[string]any) ([]Item, *media.Error) {
	x := d.x
	tiles := *item.Tiles
	item.Tiles = nil
	if err := d.acceptable(*item.Blob); err != nil {
		return nil, err
	}
	if tiles.Columns < 1 || tiles.Rows < 1 || tiles.Columns*tiles.Rows > maxTiles {
		return []Item{item}, nil
	}
	whole := item
	whole.Metadata = join(item.Metadata, map[string]any{"tiles": tiles.Columns * tiles.Rows})
	if x.g.config.Storage == nil {
		return []Item{whole}, nil
	}
	grid := d.describe(ctx, *item.Blob, d.call.slots[0], said)
	grid.Label += " (grid)"
	whole.keep(grid.Metadata)
	grid = x.record(ctx, grid)
	parts, err := d.slice(ctx, grid, tiles)
	if media.CodeOf(err) == media.CodeDiskFull {
		return nil, asError(err)
	}
	if err != nil {
		x.warn(fmt.Sprintf("the grid %s could not be cut, so it is the result: %s", grid.Ref, asError(err).Message))
		return []Item{whole}, nil
	}
	items := make([]Item, len(parts))
	for i := range parts {
		meta := maps.Clone(item.Metadata)
		if meta == nil {
			meta = map[string]any{}
		}
		meta["tile"] = i + 1
		items[i] = Item{
			Blob: &parts[i], RevisedPrompt: item.RevisedPrompt, Seed: item.Seed, Safety: item.Safety, Metadata: meta, Offers: item.Offers,
			parent: &media.Parent{Ref: grid.Ref, Role: "tile"},
		}
	}
	return items, nil
}

// slice cuts a stored grid into stored pictures. A size that does not divide leaves
// its rest to the last column and row.
func (d *delivery) slice(ctx context.Context, grid media.Output, t Tiles) ([]media.Blob, error) {
	store := d.x.g.config.Storage
	r, err := store.Open(ctx, grid.Digest)
	if err != nil {
		return nil, wrap("open grid", err)
	}
	whole, err := imaging.Decode(ctx, r, grid.Facts, d.x.g.config.Limits)
	if err = errors.Join(err, r.Close()); err != nil {
		return nil, wrap("read grid", err)
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
			return nil, wrap("write tile", err)
		}
		blob, err := store.Store(ctx, &buf, "image/png")
		if err != nil {
			return nil, wrap("store tile", err)
		}
		out = append(out, blob)
	}
	return out, nil
}
