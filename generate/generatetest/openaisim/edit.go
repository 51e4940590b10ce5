package openaisim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	_ "image/jpeg" // a format of edits
	"image/png"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"slices"
	"strconv"

	_ "golang.org/x/image/webp" // a format of edits

	"atelier/internal/sim"
)

// The limits of /images/edits.
const (
	maxEditImages = 16
	maxImageBytes = 50 << 20
	maxMaskBytes  = 4 << 20
)

// edit holds the files of an edit.
type edit struct {
	pictures []file
	mask     *file
}

// file is one part with a file name.
type file struct {
	kind          string
	bytes         []byte
	width, height int
}

// edits answers multipart edits.
func (s *Simulator) edits(w http.ResponseWriter, c *sim.Call) {
	kind, params, err := mime.ParseMediaType(c.Header.Get("Content-Type"))
	s.answer(w, c, func(body []byte) (*request, *sim.Answer) {
		if err != nil || kind != "multipart/form-data" {
			return nil, badRequest("", "invalid_request_error", "Expected multipart/form-data.")
		}
		return parseForm(body, params["boundary"])
	})
}

// numbers lists the fields that JSON would have without quotes.
func numbers() []string { return []string{"n", "output_compression", "stream", "partial_images"} }

// editFields lists the text fields of edits; some settings exist only for generations.
func editFields() []string {
	alone := []string{"moderation", "complexity", "safety_identifier", "frame_count", "frame_duration_ms"}
	return append(slices.DeleteFunc(known(), func(f string) bool { return slices.Contains(alone, f) }), "input_fidelity")
}

// parseForm parses the parts: fields as in JSON, and validated files.
func parseForm(body []byte, boundary string) (*request, *sim.Answer) {
	r := multipart.NewReader(bytes.NewReader(body), boundary)
	fields := map[string]json.RawMessage{}
	e := &edit{}
	for {
		part, err := r.NextPart()
		if err == io.EOF { //nolint:errorlint // NextPart returns it unwrapped.
			break
		}
		if err != nil {
			return nil, badRequest("", "invalid_request_error", "Could not parse multipart form.")
		}
		content, err := io.ReadAll(part)
		if err != nil {
			return nil, badRequest("", "invalid_request_error", "Could not parse multipart form.")
		}
		name := part.FormName()
		switch {
		case part.FileName() != "":
			if bad := e.add(name, part.Header.Get("Content-Type"), content); bad != nil {
				return nil, bad
			}
		case !slices.Contains(editFields(), name):
			return nil, badRequest(name, "unknown_parameter", fmt.Sprintf("Unknown parameter: '%s'.", name))
		case slices.Contains(numbers(), name):
			fields[name] = content
		default:
			fields[name] = json.RawMessage(strconv.Quote(string(content)))
		}
	}
	q := &request{OutputFormat: "png", Edit: e}
	for name, raw := range fields {
		if !json.Valid(raw) {
			return nil, badRequest(name, "invalid_type", fmt.Sprintf("Invalid type for '%s'.", name))
		}
	}
	all, _ := json.Marshal(fields) // every field is valid JSON
	if err := json.Unmarshal(all, q); err != nil {
		return nil, badRequest("", "invalid_type", "Invalid type for a field of the request.")
	}
	if q.N == nil {
		one := 1
		q.N = &one
	}
	return q, e.check()
}

// add validates and stores one file.
func (e *edit) add(name, kind string, content []byte) *sim.Answer {
	f := file{kind: kind, bytes: content}
	if !slices.Contains([]string{"image/png", "image/jpeg", "image/webp"}, kind) {
		return badRequest(name, "unsupported_file_mimetype",
			fmt.Sprintf("Invalid file '%s': unsupported mimetype ('%s'). Supported file formats are 'image/jpeg', 'image/png', and 'image/webp'.", name, kind))
	}
	cfg, format, err := image.DecodeConfig(bytes.NewReader(content))
	if err != nil || "image/"+format != kind {
		return badRequest(name, "invalid_image_file", "Invalid image file or mode for image. Please check your image file.")
	}
	f.width, f.height = cfg.Width, cfg.Height
	switch name {
	case "image", "image[]":
		e.pictures = append(e.pictures, f)
	case "mask":
		if e.mask != nil {
			return badRequest("mask", "duplicate_parameter", "Duplicate parameter: 'mask'.")
		}
		e.mask = &f
	default:
		return badRequest(name, "unknown_parameter", fmt.Sprintf("Unknown parameter: '%s'.", name))
	}
	return nil
}

// check validates the files together.
func (e *edit) check() *sim.Answer {
	switch {
	case len(e.pictures) == 0:
		return badRequest("image", "missing_required_parameter", "Missing required parameter: 'image'.")
	case len(e.pictures) > maxEditImages:
		return badRequest("image", "array_above_max_length", "Invalid 'image': array too long. Expected an array with maximum length 16.")
	}
	for _, f := range e.pictures {
		if len(f.bytes) > maxImageBytes {
			return badRequest("image", "image_file_too_large", "Image file too large. Maximum is 50 MB.")
		}
	}
	if e.mask == nil {
		return nil
	}
	m, first := e.mask, e.pictures[0]
	switch {
	case m.kind != "image/png" || len(m.bytes) > maxMaskBytes:
		return badRequest("mask", "invalid_mask_image", "Invalid mask image: a PNG of less than 4 MB is needed.")
	case m.width != first.width || m.height != first.height:
		return badRequest("mask", "invalid_image_format", "Invalid mask image format - mask size does not match image size")
	case !hasAlpha(m.bytes):
		return badRequest("mask", "invalid_image_format", "Invalid input image - format must be in ['RGBA', 'LA', 'L'], got RGB.")
	}
	return nil
}

// hasAlpha reports whether a PNG can be a mask: whether it has pixels that are not opaque.
func hasAlpha(b []byte) bool {
	img, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		return false
	}
	r := img.Bounds()
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			if color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA).A < 255 { //nolint:forcetypeassert // NRGBAModel returns NRGBA.
				return true
			}
		}
	}
	return false
}

// pixels returns the size of an answer whose request has no size: one of the three usual
// sizes, by the ratio of the first picture.
func (e *edit) pixels() (w, h int) {
	switch f := e.pictures[0]; {
	case f.width > f.height:
		return 1536, 1024
	case f.width < f.height:
		return 1024, 1536
	}
	return 1024, 1024
}

// tokens returns the input tokens of the pictures: 65 for each, and 129 for each tile of 512
// pixels, as the first models count.
func (e *edit) tokens() int {
	if e == nil {
		return 0
	}
	sum := 0
	for _, f := range e.pictures {
		sum += 65 + 129*((f.width+511)/512)*((f.height+511)/512)
	}
	return sum
}
