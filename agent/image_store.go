package agent

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"atelier/imaging"
	"atelier/media"
	"atelier/wire"
)

// bytesOf stores bytes or a file, or finds a record.
func (r *Runner) bytesOf(ctx context.Context, image Image) (media.Output, error) {
	owner := media.ScopeOf(ctx).Owner
	if image.ID != "" {
		if r.cfg.Find == nil {
			return media.Output{}, media.Errorf(media.CodeNotFound, "this runner has no records to look in: give bytes")
		}
		return r.cfg.Find(ctx, owner, image.ID)
	}
	name := wire.NameMedia(filepath.Base(image.FileName))
	if image.FileName == "" {
		name = ""
	}
	var in io.Reader = bytes.NewReader(image.Data)
	if image.Path != "" {
		f, err := openPicture(image.Path)
		if err != nil {
			return media.Output{}, err
		}
		defer func() { _ = f.Close() }() // opened for reading only
		in = f
		if name == "" {
			name = filepath.Base(image.Path)
		}
	}
	b, err := r.cfg.Codec.Store(ctx, in, image.MIMEType)
	if err != nil {
		return media.Output{}, err
	}
	return media.NewOutput(b, media.Meta{Label: name, FileName: name}), nil
}

func openPicture(path string) (*os.File, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, media.Errorf(media.CodeNotFound, "there is no such file")
	case err != nil:
		return nil, media.Errorf(media.CodeInvalid, "it cannot be read: %w", err)
	case !info.Mode().IsRegular():
		return nil, media.Errorf(media.CodeInvalid, "it is no file")
	}
	f, err := os.Open(path) //nolint:gosec // the caller names it
	if err != nil {
		return nil, media.Errorf(media.CodeInvalid, "it cannot be read: %w", err)
	}
	return f, nil
}

// checkPicture refuses what is no picture, and a picture that ends early or is damaged,
// before anybody pays to have it looked at.
func (r *Runner) checkPicture(ctx context.Context, o media.Output) error {
	switch {
	case o.Modality != media.ModalityImage:
		return media.Errorf(media.CodeInvalid, "its bytes are no picture (%s), whatever it is called: give PNG, JPEG, WebP or GIF", o.MIMEType)
	case o.MIMEType == "image/svg+xml":
		return media.Errorf(media.CodeUnsupported, "SVG is a drawing that chat models do not look at: give a PNG of it")
	}
	in, err := r.cfg.Codec.Open(ctx, o.Digest)
	if media.CodeOf(err) == media.CodeNotFound {
		return media.Errorf(media.CodeNotFound, "it was stored once, and its bytes are missing (%w): give its file again", err)
	}
	if err != nil {
		return err
	}
	_, err = imaging.Decode(ctx, in, o.Facts, imaging.Limits{})
	_ = in.Close() // only read
	code := media.CodeOf(err)
	if code == media.CodeUnsupported {
		return nil // a type that is not decoded here; the model's profile decides
	}
	if code == media.CodeCorrupt {
		return media.Errorf(media.CodeInvalid, "it is damaged or cut off (%w): save or send it again", err)
	}
	return err
}

// inputImages is what is kept of stored images.
func inputImages(images []Image) []InputImage {
	var out []InputImage
	for _, i := range images {
		out = append(out, InputImage{Ref: i.Ref, MIMEType: i.MIMEType, FileName: i.FileName, Detail: i.Detail})
	}
	return out
}

// grantedImages are the pictures that a sub-agent is granted.
func grantedImages(items []media.Output) []InputImage {
	var out []InputImage
	for _, o := range items {
		if o.Modality == media.ModalityImage && o.MIMEType != "image/svg+xml" {
			out = append(out, InputImage{Ref: o.Ref, MIMEType: o.MIMEType, FileName: o.FileName})
		}
	}
	return out
}

// showInputs tells those who watch of the pictures that came with the task.
func (r *run) showInputs(ctx context.Context) {
	if r.depth > 0 {
		return
	}
	for _, i := range r.images {
		if o, ok := r.set.Lookup(i.Ref); ok {
			r.emit(ctx, EventMediaStored, MediaEvent{Output: o})
		}
	}
}
