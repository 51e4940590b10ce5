package wire

import (
	"context"
	"sync"
	"time"

	"atelier/media"
	"atelier/media/blob"
)

// Key signs and verifies tokens. A key belongs to the deployment and must outlive the process: without it, durable runs
// cannot be replayed.
type Key struct {
	// ID identifies the key inside tokens: 1 to 16 letters, digits, '-', '_' or '.'.
	ID string
	// Secret has at least 16 bytes.
	Secret []byte
}

// Limits bound single items. In every field, 0 means the default, and a negative value means no limit.
type Limits struct {
	ImageBytes    int64 // default 64 MiB
	AudioBytes    int64 // default 256 MiB
	VideoBytes    int64 // default 4 GiB
	DocumentBytes int64 // default 64 MiB; also the limit of all other types
	// Pixels is width × height of an image according to its header; default 100,000,000.
	Pixels int64
	// Frames is the number of frames of an animation; default 200.
	Frames int
	// Items is the number of items in one answer or one text; default 500. Previews do not count; see
	// [Collector.Spare].
	Items int
}

func fill[T int | int64](v *T, def T) {
	if *v == 0 {
		*v = def
	}
}

// Config is the configuration of a [Codec].
type Config struct {
	// Blobs stores the bytes. Required.
	Blobs *blob.Store
	// Keys sign and verify tokens: the first key signs, all keys verify. At least one is required.
	Keys []Key
	// Limits bound items; the zero value means the defaults.
	Limits Limits
	// Register records each stored blob before its token is emitted, so that a crash does not lose a paid item. If it
	// returns an error, the item fails. Its context is not cancelled with the request. May be nil.
	Register func(ctx context.Context, b media.Blob) error
	// Forget removes a blob to which nothing refers from the inventory that Register fills, and reports whether it did.
	// If so, Drop deletes the bytes. If Forget is nil, Drop does nothing.
	Forget func(ctx context.Context, d media.Digest, operation string) (bool, error)
	// MaxBodyBytes bounds the body of a JSON or multipart request before its tokens are lowered; 0 means 64 MiB.
	MaxBodyBytes int64
	// MaxAnswerBytes bounds the decoded answer of a provider, without the media that is lifted out of it; 0 means 16
	// MiB. The codec does not enforce it: callers that create a client on the codec's transport do.
	MaxAnswerBytes int64
	// DiskWait is how long each step of storing an item (create, write, commit, register) waits for space on a full
	// disk before the item fails with disk_full. The connection stays open during the wait. 0 means no wait.
	DiskWait time.Duration
}

// Codec lifts and lowers media. It is safe for concurrent use.
type Codec struct {
	cfg     Config // with defaults
	signer  signer
	buffers sync.Pool // *buffers
}

// NewCodec creates a codec. An invalid configuration is [media.CodeInvalid], and the error names the setting.
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

// MaxAnswerSetting is the name of the environment variable that sets Config.MaxAnswerBytes. Error messages show it.
const MaxAnswerSetting = "ATELIER_MAX_ANSWER_MIB"

// MaxAnswer returns the maximum size of a provider's answer in bytes, without the media in it.
func (c *Codec) MaxAnswer() int64 { return c.cfg.MaxAnswerBytes }

// windowBytes is the number of bytes of a stream that are read at a time.
const windowBytes = 32 << 10

// buffers are the buffers of one stream. They return to the pool when the stream ends.
type buffers struct {
	text  [windowBytes]byte // source text as read, or encoded base64
	bytes [24 << 10]byte    // decoded bytes, or bytes to encode
	flat  []byte            // text without escapes; allocated when needed
	out   []byte            // output
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
