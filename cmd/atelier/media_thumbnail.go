package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"atelier/api"
	"atelier/media"
)

type mediaThumbnailCmd struct {
	mediaArg
	Size   int    `help:"The width in pixels: 16, 160, 320, 640, 1280 or 2048. Small pictures are not enlarged." default:"320"`
	Output string `short:"o" help:"The file to write; - is standard output." placeholder:"FILE" required:""`
	JSON   bool   `help:"Print one JSON object about the file."`
}

// Run writes a thumbnail, with the AI label if its picture needs one. It makes a missing thumbnail.
func (c *mediaThumbnailCmd) Run(w *world) error {
	if !slices.Contains(api.Widths, c.Size) {
		return media.Errorf(media.CodeInvalid, "--size %d: thumbnails are %s pixels wide", c.Size,
			strings.Trim(strings.ReplaceAll(fmt.Sprint(api.Widths), " ", ", "), "[]"))
	}
	switch strings.ToLower(filepath.Ext(c.Output)) {
	case "", ".jpg", ".jpeg", ".png":
	default:
		return media.Errorf(media.CodeInvalid, "-o %s: a thumbnail is image/jpeg, or image/png if its picture is transparent: use the extension .jpg or .png", c.Output)
	}
	return w.withApp(appConfig{}, func(a *app) error {
		r, err := c.find(w.ctx, a.stores())
		if err != nil {
			return err
		}
		d, err := a.Thumbnail(w.ctx, r, c.Size)
		if err != nil {
			return err
		}
		b, err := a.Ledger.BlobOf(w.ctx, d)
		if err != nil {
			return err
		}
		o := r.Output
		o.Blob = b.Blob
		return w.writeItem(a.stores(), o, c.Output)
	})
}
