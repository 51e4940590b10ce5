package apitest

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"image"
	"image/png"
	"io"
	"strings"
	"testing"
	"time"

	"atelier/api"
	"atelier/media"
)

// picture returns a PNG of a given size.
func picture(t *testing.T, width, height int) []byte {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for i := range img.Pix {
		img.Pix[i] = byte(i * 7)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// read reads a range of an item.
func read(ctx context.Context, t *testing.T, c api.Content, offset, length int64) []byte {
	t.Helper()
	in := must(c.Open(ctx, offset, length))(t)
	b, err := io.ReadAll(in)
	if err = errors.Join(err, in.Close()); err != nil {
		t.Fatal(err)
	}
	return b
}

func stored(t *testing.T, s Service) {
	t.Helper()
	ctx, b := t.Context(), picture(t, 900, 300)
	m := must(s.StoreMedia(ctx, bytes.NewReader(b), api.Upload{FileName: `Größe "1".png`, MIMEType: "image/jpeg", Label: "A wide one"}))(t)
	if m.FileName != `Größe "1".png` || m.Label != "A wide one" || m.MIMEType != "image/png" || m.Width != 900 || m.SizeBytes != int64(len(b)) || m.CreatedAt.IsZero() {
		t.Errorf("%+v", m)
	}
	d := must(s.Media(ctx, m.ID))(t)
	if d.ID != m.ID || d.Digest != m.Digest || d.Origin.Direction != "input" {
		t.Errorf("%+v", d)
	}
	c := must(s.OpenMedia(ctx, m.ID, 0))(t)
	if c.Digest.String() != m.Digest || c.Size != m.SizeBytes || c.MIMEType != "image/png" || c.FileName != m.FileName {
		t.Errorf("%+v", c)
	}
	for _, part := range []struct {
		offset, length int64
		want           []byte
	}{{0, -1, b}, {0, 0, nil}, {10, 20, b[10:30]}, {int64(len(b)) - 5, -1, b[len(b)-5:]}} {
		if got := read(ctx, t, c, part.offset, part.length); !bytes.Equal(got, part.want) {
			t.Errorf("%d bytes from %d: %d came", part.length, part.offset, len(got))
		}
	}
	small := must(s.OpenMedia(ctx, m.ID, 160))(t)
	if cfg, _, err := image.DecodeConfig(bytes.NewReader(read(ctx, t, small, 0, -1))); err != nil || cfg.Width != 160 || small.Digest == c.Digest {
		t.Errorf("thumbnail: %+v, %v", cfg, err)
	}
}

func changed(t *testing.T, s Service) {
	t.Helper()
	ctx := t.Context()
	var want []string
	for i := range 3 {
		m := must(s.StoreMedia(ctx, bytes.NewReader(picture(t, 20+i, 20)), api.Upload{FileName: "a.png"}))(t)
		want = append([]string{m.ID}, want...)
	}
	table := must(s.StoreMedia(ctx, strings.NewReader("a,b\n1,2\n"), api.Upload{FileName: "t.csv"}))(t)
	var got []string
	for q := (api.MediaQuery{Modality: "image", Page: api.Page{Limit: 2}}); ; {
		l := must(s.ListMedia(ctx, q))(t)
		for _, m := range l.Items {
			got = append(got, m.ID)
		}
		if q.After = l.Next; l.Next == "" {
			break
		}
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("%v, want %v", got, want)
	}
	if m := must(s.LabelMedia(ctx, table.ID, api.MediaChange{Label: new("50 % & more"), Description: new("d")}))(t); m.Label != "50 % & more" || m.Description != "d" {
		t.Errorf("%+v", m)
	}
	if m := must(s.LabelMedia(ctx, table.ID, api.MediaChange{Description: new("")}))(t); m.Label != "50 % & more" || m.Description != "" {
		t.Errorf("after the description was cleared, %+v", m)
	}
	if l := must(s.ListMedia(ctx, api.MediaQuery{Q: "50 % & more"}))(t); len(l.Items) != 1 || l.Items[0].ID != table.ID {
		t.Errorf("%+v", l)
	}
	if c := must(s.OpenMedia(ctx, table.ID, 0))(t); c.Digest.String() != table.Digest {
		t.Errorf("opened %v", c.Digest)
	}
	if until := must(s.DeleteMedia(ctx, table.ID))(t); until.Before(table.CreatedAt.Add(time.Hour)) {
		t.Errorf("until %v", until)
	}
	_, err := s.Media(ctx, table.ID)
	refused(t, "deleted", err, media.CodeNotFound)
	_, err = s.OpenMedia(ctx, table.ID, 0)
	refused(t, "the bytes of what was deleted", err, media.CodeNotFound)
	if l := must(s.ListMedia(ctx, api.MediaQuery{Deleted: true}))(t); len(l.Items) != 1 {
		t.Errorf("%+v", l)
	}
	if m := must(s.RestoreMedia(ctx, table.ID))(t); m.ID != table.ID || m.Label != "50 % & more" {
		t.Errorf("%+v", m)
	}
	if c := must(s.OpenMedia(ctx, table.ID, 0))(t); c.Digest.String() != table.Digest {
		t.Errorf("opened %v", c.Digest)
	}
}

// breaking is a reader that returns some bytes and then an error.
type breaking struct{ left int }

var errBreaking = errors.New("the disk is gone")

func (b *breaking) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, errBreaking
	}
	n := min(len(p), b.left)
	b.left -= n
	return n, nil
}

func notMedia(t *testing.T, s Service) {
	t.Helper()
	ctx := t.Context()
	_, err := s.StoreMedia(ctx, &breaking{left: 1 << 20}, api.Upload{FileName: "a.bin"})
	if !errors.Is(err, errBreaking) {
		t.Errorf("a reader that breaks: %v", err)
	}
	_, err = s.StoreMedia(ctx, strings.NewReader(""), api.Upload{FileName: "a.png"})
	refused(t, "nothing", err, media.CodeInvalid)
	_, err = s.FetchMedia(ctx, "http://127.0.0.1:1/a.png")
	refused(t, "an address of this machine", err, media.CodeBlockedAddress)
	_, err = s.FetchMedia(ctx, "file:///etc/passwd")
	refused(t, "an address of a file", err, media.CodeInvalid)
	table := must(s.StoreMedia(ctx, strings.NewReader("a,b\n1,2\n"), api.Upload{FileName: "t.csv"}))(t)
	_, err = s.OpenMedia(ctx, table.ID, 160)
	refused(t, "a thumbnail of a table", err, media.CodeUnsupported)
	if l := must(s.ListMedia(ctx, api.MediaQuery{}))(t); len(l.Items) != 1 {
		t.Errorf("%d items are kept", len(l.Items))
	}
}

func archived(t *testing.T, s Service) {
	t.Helper()
	ctx, want := t.Context(), map[string][]byte{}
	var ids []string
	for i, name := range []string{"größe.png", "größe.png", "../../etc/passwd"} {
		b := picture(t, 10+i, 10)
		ids = append(ids, must(s.StoreMedia(ctx, bytes.NewReader(b), api.Upload{FileName: name}))(t).ID)
		want[[]string{"größe.png", "größe (2).png", "passwd"}[i]] = b
	}
	var file bytes.Buffer
	if err := s.WriteArchive(ctx, append(ids, ids[0]), &file); err != nil {
		t.Fatal(err)
	}
	z := must(zip.NewReader(bytes.NewReader(file.Bytes()), int64(file.Len())))(t)
	for _, f := range z.File {
		in := must(f.Open())(t)
		if b := must(io.ReadAll(in))(t); !bytes.Equal(b, want[f.Name]) {
			t.Errorf("%s has %d bytes", f.Name, len(b))
		}
		delete(want, f.Name)
	}
	if len(want) != 0 {
		t.Errorf("%d items are missing", len(want))
	}
	refused(t, "no items", s.WriteArchive(ctx, nil, io.Discard), media.CodeInvalid)
	refused(t, "an unknown item", s.WriteArchive(ctx, append(ids, "0198a000-0000-7000-8000-000000000000"), io.Discard), media.CodeNotFound)
}
