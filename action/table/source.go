package table

import (
	"context"
	"errors"

	"atelier/media/wire"
)

// cell is one value as it stands in a file.
type cell struct {
	text []byte
	// exact says that the format types it as a number, so that its point is a decimal point.
	exact bool
}

// source is a table that can be read more than once, record by record.
type source interface {
	// each calls fn with every record from the first on; the cells are valid during the
	// call. It ends early with ctx or with fn's error.
	each(ctx context.Context, fn func([]cell) error) error
	// style is what the format says about its records.
	style() style
	// notes tell what was repaired or omitted, complete after each.
	notes() []string
}

// style is what a format says about its records.
type style struct {
	// named says that the first record is the header, without doubt.
	named bool
	// comma says that ambiguous numbers have decimal commas: semicolons separate the cells.
	comma bool
	// sure says that comma is more than a guess: commas separate the cells.
	sure bool
	// loose says that records end with their last filled cell: short ones are not ragged.
	loose bool
}

// named is a source whose cells hold no media: base64 and data URLs are named before a cell is
// looked at, stored or clipped.
type named struct{ source }

// shortestMedia is the shortest cell that is looked at for media, in bytes: the smallest picture is longer.
const shortestMedia = 40

func (n named) each(ctx context.Context, fn func([]cell) error) error {
	return n.source.each(ctx, func(record []cell) error {
		for i, c := range record {
			if len(c.text) < shortestMedia {
				continue
			}
			if text := string(c.text); wire.NameMedia(text) != text {
				record[i].text = []byte(wire.NameMedia(text))
			}
		}
		return fn(record)
	})
}

// errEnough ends a reading that has seen what it needs.
var errEnough = errors.New("enough") //nolint:gochecknoglobals // a sentinel
