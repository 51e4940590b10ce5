package table

import (
	"context"
	"errors"

	"atelier/media/wire"
)

// cell is one value as written in a file.
type cell struct {
	text []byte
	// exact reports whether the format types it as a number, so that its point is a decimal point.
	exact bool
}

// source is a table that can be read more than once, record by record.
type source interface {
	// each calls fn with every record in order; the cells are valid during the call. It stops if ctx ends or fn returns
	// an error.
	each(ctx context.Context, fn func([]cell) error) error
	// style returns what the format implies for its records.
	style() style
	// notes describes what was repaired or omitted. It is complete after each.
	notes() []string
}

// style is what a format implies for its records.
type style struct {
	// named reports whether the first record is certainly the header, and all others are rows.
	named bool
	// comma reports whether ambiguous numbers have decimal commas, because semicolons separate the cells.
	comma bool
	// sure reports whether comma is more than a guess, because commas separate the cells or another column shows it.
	sure bool
	// loose reports whether records end with their last filled cell, so that short ones are not ragged.
	loose bool
}

// named is a source whose cells contain no media: base64 and data URLs are replaced with their name before a cell is
// inspected, stored or clipped. It reports its records to a progress.
type named struct {
	source
	progress *progress
}

// minMedia is the minimum length of a cell that is searched for media, in bytes: any picture is longer.
const minMedia = 40

func (n named) each(ctx context.Context, fn func([]cell) error) error {
	read := 0
	return n.source.each(ctx, func(record []cell) error {
		n.progress.stored(read)
		read++
		for i, c := range record {
			if len(c.text) < minMedia {
				continue
			}
			if text := string(c.text); wire.NameMedia(text) != text {
				record[i].text = []byte(wire.NameMedia(text))
			}
		}
		return fn(record)
	})
}

// errEnough ends a pass that has read what it needs.
var errEnough = errors.New("enough") //nolint:gochecknoglobals // a sentinel
