package api

import (
	"archive/zip"
	"context"
	"fmt"
	"io"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"atelier/media"
)

// maxZip is the maximum number of items in an archive.
const maxZip = 500

// registerZip registers the download of several items as one archive.
func (m mediaResource) registerZip(rt *routes) {
	rt.stream(huma.Operation{
		Method: http.MethodGet, Path: "/api/media/zip", Summary: "Download media", Tags: []string{"media"},
		Description: "Items as one ZIP file, streamed and without further compression. Duplicate names are numbered.",
		Parameters:  []*huma.Param{{Name: "ids", In: "query", Required: true, Description: "The ids of up to 500 items, separated by commas.", Schema: &huma.Schema{Type: huma.TypeString}}},
		Responses:   map[string]*huma.Response{"200": {Description: "The archive.", Content: map[string]*huma.MediaType{"application/zip": {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}}}},
	}, m.zip)
}

// ArchiveService writes several items as one file.
type ArchiveService interface {
	// WriteArchive writes items as a ZIP file, in the order of their creation, each once and under its file name.
	// Duplicate names are numbered. An error before the first byte is the error of an item.
	WriteArchive(ctx context.Context, ids []string, w io.Writer) error
}

// Archive implements [ArchiveService] on a MediaService.
type Archive struct{ Media MediaService }

var _ ArchiveService = Archive{}

// WriteArchive implements [ArchiveService].
func (a Archive) WriteArchive(ctx context.Context, ids []string, w io.Writer) error {
	ids = slices.Clone(ids)
	slices.Sort(ids) // ids are ordered by time
	ids = slices.Compact(ids)
	if len(ids) == 0 || len(ids) > maxZip {
		return media.Errorf(media.CodeInvalid, "ids has %d items: give 1 to %d ids, separated by commas", len(ids), maxZip)
	}
	var all []Content
	for _, id := range ids { // open all items before anything is written
		c, err := a.Media.OpenMedia(ctx, id, 0)
		if err != nil {
			return err
		}
		all = append(all, c)
	}
	z, taken := zip.NewWriter(w), map[string]bool{}
	for i, c := range all {
		if err := addToZip(ctx, z, freeName(baseName(c.FileName), ids[i], taken), c); err != nil {
			return err
		}
	}
	return z.Close()
}

func (m mediaResource) zip(w http.ResponseWriter, r *http.Request) error {
	ids := strings.FieldsFunc(r.URL.Query().Get("ids"), func(r rune) bool { return r == ',' })
	w.Header().Set("Content-Type", "application/zip")
	w.Header().Set("Content-Disposition", disposition("media.zip", true))
	return Archive{m.media}.WriteArchive(r.Context(), ids, w)
}

func addToZip(ctx context.Context, z *zip.Writer, name string, c Content) error {
	in, err := c.Open(ctx, 0, -1)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // read-only
	out, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return err
}

// freeName returns a name that the archive does not contain yet, ignoring case.
func freeName(name, id string, taken map[string]bool) string {
	if name == "" {
		name = id
	}
	ext := path.Ext(name)
	base := strings.TrimSuffix(name, ext)
	for n := 2; taken[strings.ToLower(name)]; n++ {
		name = fmt.Sprintf("%s (%d)%s", base, n, ext)
	}
	taken[strings.ToLower(name)] = true
	return name
}
