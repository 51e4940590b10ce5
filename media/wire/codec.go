package wire

import (
	"context"
	"sync"
	"time"

	"atelier/media"
	"atelier/media/blob"
)

// Key signs and verifies tokens. It belongs to the deployment and outlives the
// process, or durable runs could not be replayed.
type Key struct {
	// ID names the key inside tokens: 1 to 16 letters, digits, '-', '_' or '.'.
	ID string
	// Secret has at least 16 bytes.
	Secret []byte
}

// Limits bound single items. For every field 0 means the default and a negative
// value means no limit.
type Limits struct {
	ImageBytes    int64 // default 64 MiB
	AudioBytes    int64 // default 256 MiB
	VideoBytes    int64 // default 4 GiB
	DocumentBytes int64 // default 64 MiB
	// Pixels is width × height of an image as its header says; default 100,000,000.
	Pixels int64
	// Frames is the number of frames of an animation; default 200.
	Frames int
	// Items is the number of items in one answer or one text, previews omitted; default 500.
	Items int
}

func fill[T int | int64](v *T, def T) {
	if *v == 0 {
		*v = def
	}
}

// Config says how media is lifted and lowered.
type Config struct {
	// Blobs is where bytes go. Required.
	Blobs *blob.Store
	// Keys sign and verify tokens: the first signs, all verify. At least one.
	Keys []Key
	// Limits bound items; the zero value has defaults.
	Limits Limits
	// Register is told of each new blob before its token goes out, so that no crash
	// loses a paid item; its error fails that item. It outlives the cancellation of the
	// request. May be nil.
	Register func(ctx context.Context, b media.Blob) error
	// Forget takes bytes that nothing names out of the inventory that Register fills, and
	// reports whether it did: then Drop deletes them. Nil makes Drop do nothing.
	Forget func(ctx context.Context, d media.Digest, operation string) (bool, error)
	// MaxBodyBytes bounds a request body whose tokens are lowered, without the media in
	// it; 0 means 64 MiB.
	MaxBodyBytes int64
	// MaxAnswerBytes bounds the answer of a provider, decoded, beside the media that is lifted
	// out of it; 0 means 16 MiB. Those who make a client of the codec's transport keep to it.
	MaxAnswerBytes int64
	// DiskWait is how long an item waits for room on a full disk while it is read, before it
	// fails with disk_full: the connection stays open meanwhile. 0 means not at all.
	DiskWait time.Duration
}

// Codec lifts and lowers. It is safe for concurrent use.
type Codec struct {
	cfg     Config // with defaults
	signer  signer
	buffers sync.Pool // *buffers
}

// NewCodec checks the configuration; the error has code [media.CodeInvalid] and
// names the setting.
func NewCodec(cfg Config) (*Codec, error) {
	if cfg.Blobs == nil {
		return nil, media.Errorf(media.CodeInvalid, "wire codec: Config.Blobs is missing")
	}
	s, err := newSigner(cfg.Keys)
	if err != nil {
		return nil, err
	}
	fill(&cfg.MaxBodyBytes, 64<<20)
	fill(&cfg.MaxAnswerBytes, 16<<20)
	fill(&cfg.Limits.ImageBytes, 64<<20)
	fill(&cfg.Limits.AudioBytes, 256<<20)
	fill(&cfg.Limits.VideoBytes, 4<<30)
	fill(&cfg.Limits.DocumentBytes, 64<<20)
	fill(&cfg.Limits.Pixels, 100_000_000)
	fill(&cfg.Limits.Frames, 200)
	fill(&cfg.Limits.Items, 500)
	return &Codec{cfg: cfg, signer: s, buffers: sync.Pool{New: func() any { return &buffers{out: make([]byte, 0, 2<<10)} }}}, nil
}

// MaxAnswerSetting names, for people, what sets Config.MaxAnswerBytes.
const MaxAnswerSetting = "ATELIER_MAX_ANSWER_MIB"

// MaxAnswer is how long the answer of a provider may be, beside the media in it.
func (c *Codec) MaxAnswer() int64 { return c.cfg.MaxAnswerBytes }

// windowBytes is how much of a stream is in memory at a time.
const windowBytes = 32 << 10

// buffers are what one stream needs. They go back to the pool when it ends.
type buffers struct {
	text  [windowBytes]byte // base64 as read, or encoded
	bytes [24 << 10]byte    // decoded, or to encode
	flat  []byte            // text without escapes; made where there are some
	out   []byte            // to give out
}

func (c *Codec) takeBuffers() *buffers {
	b, _ := c.buffers.Get().(*buffers)
	return b
}

func (c *Codec) giveBuffers(b *buffers) {
	if b == nil {
		return
	}
	b.out = b.out[:0]
	if cap(b.out) > 4*windowBytes {
		b.out = nil
	}
	c.buffers.Put(b)
}
