package wire

import (
	"context"
	"errors"
	"io"
	"time"

	"atelier/media"
	"atelier/media/blob"
	"atelier/media/probe"
)

// Store puts everything that r gives into the blob store, under the limits, and
// reads its facts from the bytes. The declared type decides only where bytes have
// no signature; declared raw PCM gets a WAV header. The errors are too_large,
// invalid (no bytes), disk_full and those of r; nothing refers to the bytes then.
func (c *Codec) Store(ctx context.Context, r io.Reader, declaredMIME string) (media.Blob, error) {
	in := c.begin(ctx, declaredMIME, nil)
	defer in.abort()
	buf := c.takeBuffers()
	defer c.giveBuffers(buf)
	for in.err == nil {
		if err := ctx.Err(); err != nil {
			return media.Blob{}, err
		}
		n, err := r.Read(buf.text[:])
		in.write(buf.text[:n])
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return media.Blob{}, err
		}
	}
	return in.finish(ctx)
}

// Open reads a blob, verified; see [blob.Store.Open].
func (c *Codec) Open(ctx context.Context, d media.Digest) (io.ReadCloser, error) {
	return c.cfg.Blobs.Open(ctx, d)
}

// Drop deletes bytes that nothing names, if no other operation than that of the scope of ctx
// registered them.
func (c *Codec) Drop(ctx context.Context, d media.Digest) error {
	if c.cfg.Forget == nil {
		return nil
	}
	gone, err := c.cfg.Forget(ctx, d, media.ScopeOf(ctx).Operation)
	if err != nil || !gone {
		return err
	}
	return c.cfg.Blobs.Delete(ctx, d)
}

// Reserve sets disk space aside for results of generations; see [blob.Reserver].
func (c *Codec) Reserve(ctx context.Context, need, leave int64) (release func(), err error) {
	return c.cfg.Blobs.Reserve(ctx, need, leave)
}

// intake is one item on its way into the blob store. Its first error stays; bytes
// after it are counted and dropped, so that a stream continues without the item.
type intake struct {
	ctx      context.Context //nolint:containedctx // the life of one item
	codec    *Codec
	w        *blob.Writer // nil after the end or an error
	declared string
	pcm      *PCM
	facts    media.Facts
	sniffed  bool
	limit    int64
	size     int64
	err      error
}

func (c *Codec) begin(ctx context.Context, declared string, pcm *PCM) *intake {
	if pcm == nil {
		pcm = samplesOf(declared)
	}
	in := &intake{ctx: ctx, codec: c, declared: declared, pcm: pcm, limit: -1}
	in.err = in.withRoom(func() (err error) {
		in.w, err = c.cfg.Blobs.Create(ctx)
		return err
	})
	return in
}

// beginNth is begin for the n-th item of an answer, which fails beyond the limit.
func (c *Codec) beginNth(ctx context.Context, n int, declared string, pcm *PCM) *intake {
	if c.cfg.Limits.Items < 0 || n <= c.cfg.Limits.Items {
		return c.begin(ctx, declared, pcm)
	}
	return &intake{ctx: ctx, codec: c, limit: -1, err: media.Errorf(media.CodeTooLarge,
		"it contains more than %d media items", c.cfg.Limits.Items)}
}

// write takes bytes. It never fails; see err.
func (in *intake) write(p []byte) {
	in.size += int64(len(p))
	if in.err != nil || len(p) == 0 {
		return
	}
	err := in.withRoom(func() error {
		n, err := in.w.Write(p)
		p = p[n:]
		return err
	})
	if err != nil {
		in.fail(err)
		return
	}
	if !in.sniffed && in.size >= sniffBytes {
		in.sniff()
	}
	in.checkSize()
}

// roomPause is how often a full disk is tried again; yieldBytes is how much of the reserved space is
// freed for a write that met one.
const (
	roomPause  = 250 * time.Millisecond
	yieldBytes = 1 << 20
)

// withRoom stores something. While the disk is full, a result of a generation uses the reserved space,
// which includes the row in the inventory. Then it waits and tries again: the bytes may have been paid
// for, and come once.
func (in *intake) withRoom(store func() error) error {
	result := media.ScopeOf(in.ctx).Operation != ""
	err := store()
	for waited := time.Duration(0); media.CodeOf(err) == media.CodeDiskFull; err = store() {
		if result && in.codec.cfg.Blobs.Yield(yieldBytes) {
			continue
		}
		if waited >= in.codec.cfg.DiskWait {
			return err
		}
		select {
		case <-in.ctx.Done():
			return err
		case <-time.After(roomPause):
		}
		waited += roomPause
	}
	return err
}

// sniffBytes is how much of an item decides its type and its limits.
const sniffBytes = 4 << 10

// sniff reads the head, so that an item that breaks its limits ends here.
func (in *intake) sniff() {
	in.sniffed = true
	in.facts = probe.Declare(probe.Head(in.w.Head()), in.declared)
	if in.pcm != nil && !probe.Media(in.w.Head()) && !plain(in.w.Head()) {
		in.facts = media.Facts{MIMEType: "audio/wav"}
	} else {
		in.pcm = nil
	}
	in.limit = in.codec.cfg.Limits.bytes(media.ModalityOf(in.facts.MIMEType))
	in.fail(in.codec.cfg.Limits.check(in.facts))
}

func (in *intake) checkSize() {
	if in.sniffed && in.limit >= 0 && in.size > in.limit {
		m := media.ModalityOf(in.facts.MIMEType)
		in.fail(media.Errorf(media.CodeTooLarge, "the %s is over the limit of %d bytes", m, in.limit))
	}
}

// fail keeps the first error and drops the bytes.
func (in *intake) fail(err error) {
	if err == nil || in.err != nil {
		return
	}
	in.err = err
	in.abort()
}

func (in *intake) abort() {
	if in.w != nil {
		in.w.Abort()
		in.w = nil
	}
}

// finish commits, reads the facts and registers the blob. From here on the item is
// kept, even if ctx is cancelled.
func (in *intake) finish(ctx context.Context) (media.Blob, error) {
	if in.err == nil && in.size == 0 {
		in.fail(media.Errorf(media.CodeInvalid, "the media item is empty"))
	}
	if in.err == nil && !in.sniffed {
		in.sniff()
		in.checkSize()
	}
	if in.err != nil {
		return media.Blob{}, in.err
	}
	ctx = context.WithoutCancel(ctx)
	info, err := in.commit(ctx)
	if err != nil {
		in.fail(err)
		return media.Blob{}, err
	}
	in.w = nil
	b := media.Blob{Digest: info.Digest, SizeBytes: info.SizeBytes, Facts: in.codec.facts(ctx, info, in.facts, in.declared)}
	err = in.codec.cfg.Limits.check(b.Facts)
	if err == nil && in.codec.cfg.Register != nil {
		err = in.withRoom(func() error { return in.codec.cfg.Register(ctx, b) })
	}
	if err != nil {
		in.err = err
		return media.Blob{}, err
	}
	return b, nil
}

// commit stores the bytes, behind a header where they are samples.
func (in *intake) commit(ctx context.Context) (info blob.Info, err error) {
	err = in.withRoom(func() error {
		info, err = in.w.Commit(ctx)
		return err
	})
	if err != nil || in.pcm == nil {
		return info, err
	}
	samples := info
	err = in.withRoom(func() error {
		info, err = in.codec.wrapPCM(ctx, samples, *in.pcm)
		return err
	})
	return info, err
}

// facts completes what the head told, where more can be told. What cannot be read
// leaves the head's facts.
func (c *Codec) facts(ctx context.Context, info blob.Info, head media.Facts, declared string) media.Facts {
	switch head.MIMEType {
	case "image/bmp", "image/jpeg":
		if head.Width > 0 {
			return head
		}
	case "application/octet-stream", "text/plain", "application/json":
		return head
	}
	full, err := probe.Read(blobReader{ctx, c, info.Digest}, info.SizeBytes)
	if err != nil || full.MIMEType == "" {
		return head
	}
	return probe.Declare(full, declared)
}

// blobReader reads any part of a blob.
type blobReader struct {
	ctx    context.Context //nolint:containedctx // the life of one look at a blob
	codec  *Codec
	digest media.Digest
}

func (s blobReader) ReadAt(p []byte, off int64) (int, error) {
	r, err := s.codec.cfg.Blobs.OpenRange(s.ctx, s.digest, off, int64(len(p)))
	if err != nil {
		return 0, err
	}
	defer r.Close()
	n, err := io.ReadFull(r, p)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	return n, err
}

// bytes returns the limit of a modality; negative means none.
func (l Limits) bytes(m media.Modality) int64 {
	switch m {
	case media.ModalityImage:
		return l.ImageBytes
	case media.ModalityAudio:
		return l.AudioBytes
	case media.ModalityVideo:
		return l.VideoBytes
	case media.ModalityDocument:
		return l.DocumentBytes
	}
	return l.DocumentBytes
}

// check compares what a header says with the limits, before anything is decoded.
func (l Limits) check(f media.Facts) error {
	if media.ModalityOf(f.MIMEType) != media.ModalityImage || f.MIMEType == "image/svg+xml" {
		return nil
	}
	w, h := int64(f.Width), int64(f.Height)
	if l.Pixels >= 0 && (w > l.Pixels || h > l.Pixels || w*h > l.Pixels) { // each side first: the product may overflow
		return media.Errorf(media.CodeTooLarge, "the image has %d × %d pixels, over the limit of %d", f.Width, f.Height, l.Pixels)
	}
	if l.Frames >= 0 && f.Frames > l.Frames {
		return media.Errorf(media.CodeTooLarge, "the image has %d frames, over the limit of %d", f.Frames, l.Frames)
	}
	return nil
}
