package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"atelier/imaging"
	"atelier/ledger"
	"atelier/media"
)

// thumbnailWidths are those that are made, in pixels.
var thumbnailWidths = []int{160, 320, 640, 1280, 2048}

type mediaThumbnailCmd struct {
	mediaArg
	Size   int    `help:"Its width in pixels: 160, 320, 640, 1280 or 2048. Nothing is enlarged." default:"320"`
	Output string `short:"o" help:"The file to write; - is standard output." placeholder:"FILE" required:""`
}

// Run writes a thumbnail, which is made if there is none yet.
func (c *mediaThumbnailCmd) Run(w *world) error {
	if !slices.Contains(thumbnailWidths, c.Size) {
		return media.Errorf(media.CodeInvalid, "--size %d: thumbnails are %s pixels wide", c.Size,
			strings.Trim(strings.ReplaceAll(fmt.Sprint(thumbnailWidths), " ", ", "), "[]"))
	}
	return w.withApp(appConfig{}, func(a *app) error {
		r, err := c.find(w.ctx, a.stores())
		if err != nil {
			return err
		}
		d, err := a.thumbnail(w.ctx, r, c.Size)
		if err != nil {
			return err
		}
		b, err := a.Ledger.BlobOf(w.ctx, d)
		if err != nil {
			return err
		}
		if f, err := imaging.ParseFormat(filepath.Ext(c.Output)); err == nil && f.MIMEType() != b.MIMEType {
			return media.Errorf(media.CodeInvalid, "-o %s: the thumbnail is %s: give the file an ending of that", c.Output, b.MIMEType)
		}
		in, err := a.Blobs.Open(w.ctx, d)
		if err != nil {
			return err
		}
		defer func() { _ = in.Close() }() // only read
		write := func(to io.Writer) error {
			_, err := io.Copy(to, in)
			return err
		}
		if c.Output == toStdout {
			return write(w.piped().bytes)
		}
		if err := writeTo(c.Output, write); err != nil {
			return err
		}
		w.line("%s  %s", c.Output, dimensions(media.Output{Blob: b.Blob}))
		return nil
	})
}

// thumbnail gives the stored small form of a picture, and makes it where there is none.
func (a *app) thumbnail(ctx context.Context, r ledger.Record, width int) (media.Digest, error) {
	d, err := a.Ledger.Thumbnail(ctx, r.Digest, width)
	if err == nil {
		if _, err = a.Blobs.Stat(ctx, d); err == nil {
			return d, nil
		}
	}
	if media.CodeOf(err) != media.CodeNotFound {
		return d, err
	}
	if r.Modality != media.ModalityImage || r.MIMEType == "image/svg+xml" {
		return d, media.Errorf(media.CodeUnsupported, "%s is %s: thumbnails are made of pictures in pixels", r.Ref, r.MIMEType)
	}
	in, err := a.Codec.Open(ctx, r.Digest)
	if err != nil {
		return d, err
	}
	defer func() { _ = in.Close() }() // only read
	var small bytes.Buffer
	if _, err := imaging.Thumbnail(ctx, &small, in, r.Facts, width); err != nil {
		return d, media.Errorf(media.CodeOf(err), "make a thumbnail of %s: %w", r.Ref, err)
	}
	b, err := a.Codec.Store(ctx, &small, "")
	if err != nil {
		return d, err
	}
	return b.Digest, a.Ledger.SaveThumbnail(ctx, r.Digest, width, b.Digest)
}
