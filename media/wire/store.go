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

// Store writes all of r to the blob store, under the limits of the codec, and reads the facts from the bytes. The
// declared type applies only to bytes without a signature; raw samples that are declared as PCM or WAV get a WAV
// header. The errors are too_large, invalid (no bytes), disk_full and those of r, of ctx and of Config.Register. After
// an error, nothing refers to the bytes.
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

// Open opens a blob and verifies it while it is read; see [blob.Store.Open].
func (c *Codec) Open(ctx context.Context, d media.Digest) (io.ReadCloser, error) {
	return c.cfg.Blobs.Open(ctx, d)
}

// Drop deletes a blob to which nothing refers, unless an operation other than that of the scope of ctx registered it.
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

// intake writes one item to the blob store. It keeps its first error. Bytes after an error are counted and discarded,
// so that the stream continues without the item.
type intake struct {
	ctx      context.Context //nolint:containedctx // it applies to one item only
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

// beginNth is begin for the n-th item of an answer. An item beyond the limit fails.
func (c *Codec) beginNth(ctx context.Context, n int, declared string, pcm *PCM) *intake {
	if c.cfg.Limits.Items < 0 || n <= c.cfg.Limits.Items {
		return c.begin(ctx, declared, pcm)
	}
	return &intake{ctx: ctx, codec: c, limit: -1, err: media.Errorf(media.CodeTooLarge,
		"it contains more than %d media items", c.cfg.Limits.Items)}
}

// write stores bytes. An error is kept in err.
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

// roomPause is the interval between retries on a full disk. yieldBytes is how much of the reserved space is freed for a
// write on a full disk.
const (
	roomPause  = 250 * time.Millisecond
	yieldBytes = 1 << 20
)

// withRoom calls store, and calls it again while the disk is full. A result of a generation first uses the reserved
// space, also for its row in the inventory. After that, an item waits for up to Config.DiskWait, because its bytes may
// be paid for and are sent only once.
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

// sniffBytes is the number of bytes at the start of an item that determine its type and limits.
const sniffBytes = 4 << 10

// sniff reads the facts from the first bytes, so that an item beyond its limits fails early.
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

// fail records an error, unless there is one already, and discards the bytes.
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

// finish commits the bytes, reads the facts and registers the blob. It completes even if ctx is cancelled.
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

// commit stores the bytes. Raw samples get a header.
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

// facts completes the facts of the head by reading the stored blob, for types where this adds something. If the blob
// cannot be read, it returns the facts of the head.
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

// blobReader implements io.ReaderAt for a blob.
type blobReader struct {
	ctx    context.Context //nolint:containedctx // it applies to one inspection of a blob
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

// bytes returns the size limit of a modality; negative means none.
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

// check compares the facts of an image header with the limits, before anything is decoded.
func (l Limits) check(f media.Facts) error {
	if media.ModalityOf(f.MIMEType) != media.ModalityImage || f.MIMEType == "image/svg+xml" {
		return nil
	}
	w, h := int64(f.Width), int64(f.Height)
	if l.Pixels >= 0 && (w > l.Pixels || h > l.Pixels || w*h > l.Pixels) { // each side first: w*h may overflow
		return media.Errorf(media.CodeTooLarge, "the image has %d × %d pixels, over the limit of %d", f.Width, f.Height, l.Pixels)
	}
	if l.Frames >= 0 && f.Frames > l.Frames {
		return media.Errorf(media.CodeTooLarge, "the image has %d frames, over the limit of %d", f.Frames, l.Frames)
	}
	return nil
}
