package agent

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"atelier/agent/internal/object"
	"atelier/agent/internal/plain"
	"atelier/agent/vision"
	"atelier/media"
	"atelier/media/imaging"
	"atelier/media/wire"
)

// inputNamespace marks items that came with a message, in their metadata.
const inputNamespace = "input_image"

// Image is a picture that comes with a message. Exactly one of Data, Path, ID and Ref must be set.
// In JSON it is {"data": BASE64, "mime_type", "filename", "detail"}, or {"id"} or {"ref"} instead
// of data; a path is refused in JSON. Its JSON and log forms never contain bytes.
type Image struct {
	// Data is the picture's bytes.
	Data []byte `json:"data,omitempty"`
	// Path is a local file, for the library and the command line.
	Path string `json:"path,omitempty"`
	// ID is the ID of a media record of the same owner. Ref is the ref of an item that the run is
	// granted or that its conversation contains.
	ID  string    `json:"id,omitempty"`
	Ref media.Ref `json:"ref,omitempty"`
	// MIMEType is the declared type; the type found in the bytes takes precedence.
	MIMEType string `json:"mime_type,omitempty"`
	FileName string `json:"filename,omitempty"`
	// Detail is auto, low or high; empty means auto.
	Detail string `json:"detail,omitempty"`
}

// imageJSON is an Image without its methods.
type imageJSON Image

// UnmarshalJSON implements json.Unmarshaler. A path or an unknown field is [media.CodeInvalid].
func (i *Image) UnmarshalJSON(b []byte) error {
	var in imageJSON
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		return media.Errorf(media.CodeInvalid, "an image is {\"data\": BASE64, \"mime_type\", \"filename\", \"detail\"} or has id or ref instead of data: %s", media.ErrorText(err.Error()))
	}
	if in.Path != "" {
		return media.Errorf(media.CodeInvalid, "an image's path is read by the command line and the library only: send its bytes as data, or a media id")
	}
	*i = Image(in)
	return i.check()
}

// MarshalJSON implements json.Marshaler. An image that is not yet stored (bytes or a path) is [media.CodeInvalid].
func (i Image) MarshalJSON() ([]byte, error) {
	if len(i.Data) > 0 || i.Path != "" {
		return nil, media.Errorf(media.CodeInvalid, "%s is not stored yet: store the images of a request before it is saved", i)
	}
	return json.Marshal(imageJSON(i))
}

// String describes the picture without its bytes.
func (i Image) String() string {
	switch {
	case i.Ref != "":
		return string(i.Ref)
	case i.ID != "":
		return "media " + media.ErrorText(i.ID)
	case i.Path != "":
		return "file " + media.ErrorText(filepath.Base(i.Path))
	}
	return fmt.Sprintf("<%s %d bytes>", strings.TrimSpace("image "+media.ErrorText(i.MIMEType)), len(i.Data))
}

// GoString returns [Image.String], so that %#v cannot show more.
func (i Image) GoString() string { return i.String() }

// LogValue returns [Image.String], so that slog cannot show more.
func (i Image) LogValue() slog.Value { return slog.StringValue(i.String()) }

func (i Image) check() error {
	n := 0
	for _, set := range []bool{len(i.Data) > 0, i.Path != "", i.ID != "", i.Ref != ""} {
		if set {
			n++
		}
	}
	if n != 1 {
		return media.Errorf(media.CodeInvalid, "an image needs exactly one of bytes, path, media id and ref")
	}
	if !slices.Contains([]string{"", "auto", "low", "high"}, i.Detail) {
		return media.Errorf(media.CodeInvalid, "image detail %q is not known: use auto, low or high", plain.Clip(media.ErrorText(i.Detail), 20))
	}
	return nil
}

func checkImages(images []Image) error {
	if len(images) > vision.MaxGiven {
		return media.Errorf(media.CodeTooLarge, "%d images come with the message: give at most %d", len(images), vision.MaxGiven)
	}
	for n, i := range images {
		if err := i.check(); err != nil {
			return media.Errorf(media.CodeOf(err), "image %d: %w", n+1, err)
		}
	}
	return nil
}

// StoreImages stores and records the images of a request in its run tree and returns the request with refs instead of
// the images, so that it can be saved. [Runner.Run] does the same for a request whose images are not yet stored. An
// empty RunID is replaced with a new ID. Nothing is recorded unless all images are valid. Errors name the picture:
// [media.CodeInvalid] and [media.CodeUnsupported] for data that is not a picture or is damaged, [media.CodeTooLarge],
// [media.CodeUnknownRef], [media.CodeNotFound].
func (r *Runner) StoreImages(ctx context.Context, req Request) (Request, error) {
	return r.storeImages(ctx, req, func(context.Context, []media.Output) error { return nil })
}

// storeImages is StoreImages; takes can refuse the pictures before they are recorded.
func (r *Runner) storeImages(ctx context.Context, req Request, takes func(context.Context, []media.Output) error) (Request, error) {
	if len(req.Images) == 0 {
		return req, nil
	}
	if err := checkImages(req.Images); err != nil {
		return req, err
	}
	if req.RunID == "" {
		req.RunID = r.cfg.NewID()
	}
	req.Owner = cmp.Or(req.Owner, "local")
	ctx = media.WithScope(ctx, media.Scope{Owner: req.Owner, Tree: req.RunID, Run: req.RunID})
	outputs := make([]media.Output, len(req.Images))
	var distinct []media.Output
	for n, image := range req.Images {
		o, err := r.readImage(ctx, req.Granted, image)
		if err != nil {
			return req, inImage(n, image, err)
		}
		if outputs[n] = o; !slices.ContainsFunc(distinct, func(d media.Output) bool { return d.Ref == o.Ref }) {
			distinct = append(distinct, o)
		}
	}
	if err := takes(ctx, distinct); err != nil {
		return req, err
	}
	granted, images := slices.Clone(req.Granted), make([]Image, 0, len(req.Images))
	for n, image := range req.Images {
		o, err := r.recordImage(ctx, image, outputs[n])
		if err != nil {
			return req, inImage(n, image, err)
		}
		if !slices.ContainsFunc(granted, func(g media.Output) bool { return g.Ref == o.Ref }) {
			granted = append(granted, o)
		}
		if !slices.ContainsFunc(images, func(i Image) bool { return i.Ref == o.Ref }) {
			images = append(images, Image{Ref: o.Ref, MIMEType: o.MIMEType, FileName: o.FileName, Detail: image.Detail})
		}
	}
	req.Granted, req.Images = granted, images
	return req, nil
}

// ImageError is an error of one image of a request.
type ImageError struct {
	// Ref is the ref in the request; empty if the request did not use a ref.
	Ref media.Ref
	err error
}

// Error returns the message, which names the image.
func (e *ImageError) Error() string { return e.err.Error() }

// Unwrap returns the error with its media.Code.
func (e *ImageError) Unwrap() error { return e.err }

// inImage adds the picture to an error; n counts from 0.
func inImage(n int, image Image, err error) error {
	return &ImageError{Ref: image.Ref, err: media.Errorf(media.CodeOf(err), "image %d (%s): %w", n+1, image, err)}
}

// readImage returns one picture with its bytes stored, but not yet recorded as an item of the run. It refuses items that
// are not pictures, and truncated or damaged pictures, before they reach a call that costs money.
func (r *Runner) readImage(ctx context.Context, granted []media.Output, image Image) (media.Output, error) {
	if image.Ref != "" {
		return grantedRef(granted, image.Ref)
	}
	o, err := r.bytesOf(ctx, image)
	if err != nil {
		return o, err
	}
	switch {
	case o.Modality != media.ModalityImage:
		return o, media.Errorf(media.CodeInvalid, "its bytes are not a picture (%s), whatever its name says: give PNG, JPEG, WebP or GIF", o.MIMEType)
	case o.MIMEType == "image/svg+xml":
		return o, media.Errorf(media.CodeUnsupported, "chat models do not accept SVG: give a PNG of it")
	}
	in, err := r.cfg.Codec.Open(ctx, o.Digest)
	if media.CodeOf(err) == media.CodeNotFound {
		return o, media.Errorf(media.CodeNotFound, "it is on record, but its bytes are missing (%w): give the file again", err)
	}
	if err != nil {
		return o, err
	}
	_, err = imaging.Decode(ctx, in, o.Facts, imaging.Limits{})
	_ = in.Close()             // only read
	switch media.CodeOf(err) { //nolint:exhaustive // other codes are returned as they are
	case media.CodeUnsupported:
		return o, nil // a type that cannot be decoded here; the model's profile decides
	case media.CodeCorrupt:
		return o, media.Errorf(media.CodeInvalid, "it is damaged or cut off (%w): save or send it again", err)
	}
	return o, err
}

// recordImage returns a picture as a recorded item of the run tree.
func (r *Runner) recordImage(ctx context.Context, image Image, o media.Output) (media.Output, error) {
	if image.Ref != "" {
		return o, nil
	}
	o.Promoted = false
	if o.ID == "" { // otherwise it has a record with its own origin
		o.Origin.Source = inputNamespace
		o.Metadata = object.Set(o.Metadata, map[string]any{"namespace": inputNamespace})
	}
	o.Origin.Direction = "input"
	if r.cfg.Recorder == nil {
		return o, nil
	}
	return r.cfg.Recorder.Record(ctx, o)
}

// grantedRef returns a picture that the run may use.
func grantedRef(granted []media.Output, ref media.Ref) (media.Output, error) {
	var known media.Set
	if err := known.Merge(granted); err != nil {
		return media.Output{}, err
	}
	o, err := known.Find(string(ref))
	switch {
	case err == nil && o.Modality != media.ModalityImage:
		return o, media.Errorf(media.CodeInvalid, "it is %s, not a picture", o.MIMEType)
	case err != nil:
		e := media.Errorf(media.CodeUnknownRef, "a ref means something only in its run and its conversation: give the item's media id, or continue the conversation that has it")
		for _, g := range granted {
			e.Valid = append(e.Valid, string(g.Ref))
		}
		return o, e
	}
	return o, nil
}

// bytesOf stores bytes or a file, or looks up a record.
func (r *Runner) bytesOf(ctx context.Context, image Image) (media.Output, error) {
	if image.ID != "" {
		if r.cfg.Find == nil {
			return media.Output{}, media.Errorf(media.CodeNotFound, "this runner has no media records: give the bytes")
		}
		return r.cfg.Find(ctx, media.ScopeOf(ctx).Owner, image.ID)
	}
	name := ""
	if image.FileName != "" {
		name = wire.NameMedia(filepath.Base(image.FileName))
	}
	var in io.Reader = bytes.NewReader(image.Data)
	if image.Path != "" {
		info, err := os.Stat(image.Path)
		switch {
		case errors.Is(err, os.ErrNotExist):
			return media.Output{}, media.Errorf(media.CodeNotFound, "there is no such file")
		case err != nil:
			return media.Output{}, media.Errorf(media.CodeInvalid, "it cannot be read: %w", err)
		case !info.Mode().IsRegular():
			return media.Output{}, media.Errorf(media.CodeInvalid, "it is not a file")
		}
		f, err := os.Open(image.Path)
		if err != nil {
			return media.Output{}, media.Errorf(media.CodeInvalid, "it cannot be read: %w", err)
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

// inputImages returns the records of stored images.
func inputImages(images []Image) []vision.InputImage {
	var out []vision.InputImage
	for _, i := range images {
		out = append(out, vision.InputImage{Ref: i.Ref, MIMEType: i.MIMEType, FileName: i.FileName, Detail: i.Detail})
	}
	return out
}

// grantedImages returns the pictures granted to a sub-agent.
func grantedImages(items []media.Output) []vision.InputImage {
	var out []vision.InputImage
	for _, o := range items {
		if o.Modality == media.ModalityImage && o.MIMEType != "image/svg+xml" {
			out = append(out, vision.InputImage{Ref: o.Ref, MIMEType: o.MIMEType, FileName: o.FileName})
		}
	}
	return out
}

// checkModelAccepts checks, before the run begins, that its model accepts the pictures: their number, their
// types, and whether they can be made small enough. It does not check lenient requests, requests
// that were already admitted, or agents without a model.
func (r *run) checkModelAccepts(ctx context.Context, pictures []media.Output) error {
	if r.sights.Lenient || r.spec.def == nil || r.request.Admitted {
		return nil
	}
	c, err := r.r.cfg.Models.Choose(ctx, append(slices.Clone(r.request.ChatModels), r.spec.def.ChatModels...))
	if err != nil {
		return nil //nolint:nilerr // without a model the run itself fails and reports the reason
	}
	p, n := c.Model.Profile(), len(pictures)
	if err := p.CheckImageCount(n, modelsWithVision(r.r.cfg.Models, n)); err != nil {
		return fmt.Errorf("agent %s: %w", r.spec.slug, err)
	}
	for i, o := range pictures {
		if err := p.CheckVision(o); err != nil {
			return fmt.Errorf("image %d: show it to agent %s: %w", i+1, r.spec.slug, err)
		}
	}
	return r.sights.Prefit(ctx, p, pictures)
}
