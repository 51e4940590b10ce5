package wire

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"mime"
	"strconv"
	"strings"

	"atelier/media"
	"atelier/media/blob"
)

// PCM is the format of raw samples, which have no signature. They are signed and little-endian.
type PCM struct {
	Rate     int // samples per second; 0 means 24,000
	Channels int // 0 means 1
	Bits     int // bits per sample; 0 means 16
}

func (p PCM) withDefaults() PCM {
	fill(&p.Rate, 24_000)
	fill(&p.Channels, 1)
	fill(&p.Bits, 16)
	return p
}

// pcmOfType returns the format of a raw audio type, such as audio/L16;codec=pcm;rate=24000 or audio/pcm;rate=…, and nil
// for all other types. Providers send audio/L16 in little-endian order, although RFC 2586 requires big-endian.
func pcmOfType(mimeType string) *PCM {
	if len(mimeType) < 9 || !strings.EqualFold(mimeType[:6], "audio/") {
		return nil
	}
	t, params, err := mime.ParseMediaType(mimeType)
	if err != nil {
		return nil
	}
	var p PCM
	switch t {
	case "audio/l16", "audio/pcm", "audio/raw", "audio/x-raw", "audio/pcm16":
	case "audio/l24":
		p.Bits = 24
	default:
		return nil
	}
	p.Rate = number(params["rate"], 1_000_000)
	p.Channels = number(params["channels"], 64)
	p = p.withDefaults()
	return &p
}

// samplesOf is like pcmOfType, but also returns a format for WAV types: bytes declared as WAV may lack the header.
func samplesOf(mimeType string) *PCM {
	t, params, _ := mime.ParseMediaType(mimeType)
	switch t {
	case "audio/wav", "audio/x-wav", "audio/wave", "audio/vnd.wave":
		p := PCM{Rate: number(params["rate"], 1_000_000), Channels: number(params["channels"], 64)}.withDefaults()
		return &p
	}
	return pcmOfType(mimeType)
}

// number parses a parameter. It returns 0 if the parameter is missing, invalid or above highest.
func number(s string, highest int) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > highest {
		return 0
	}
	return n
}

// wrapPCM stores the samples again with a WAV header, which contains their size. The bare samples remain for garbage
// collection, because the same blob may be in use.
func (c *Codec) wrapPCM(ctx context.Context, raw blob.Info, p PCM) (blob.Info, error) {
	if raw.SizeBytes > math.MaxUint32-44 {
		return blob.Info{}, media.Errorf(media.CodeTooLarge, "the sound has %d bytes, more than a WAV file can contain", raw.SizeBytes)
	}
	r, err := c.cfg.Blobs.Open(ctx, raw.Digest)
	if err != nil {
		return blob.Info{}, err
	}
	head := wavHeader(uint32(raw.SizeBytes), p) //nolint:gosec // checked above
	info, err := c.cfg.Blobs.Put(ctx, io.MultiReader(strings.NewReader(string(head)), r))
	return info, errors.Join(err, r.Close())
}

// wavHeader returns the 44 bytes that precede n bytes of samples.
func wavHeader(n uint32, p PCM) []byte {
	block := p.Channels * p.Bits / 8
	h := make([]byte, 0, 44)
	h = append(h, "RIFF"...)
	h = binary.LittleEndian.AppendUint32(h, n+36)
	h = append(h, "WAVEfmt "...)
	h = binary.LittleEndian.AppendUint32(h, 16)
	h = binary.LittleEndian.AppendUint16(h, 1)
	h = binary.LittleEndian.AppendUint16(h, uint16(p.Channels))   //nolint:gosec // at most 64
	h = binary.LittleEndian.AppendUint32(h, uint32(p.Rate))       //nolint:gosec // at most 1,000,000
	h = binary.LittleEndian.AppendUint32(h, uint32(p.Rate*block)) //nolint:gosec // at most 192,000,000
	h = binary.LittleEndian.AppendUint16(h, uint16(block))        //nolint:gosec // at most 192
	h = binary.LittleEndian.AppendUint16(h, uint16(p.Bits))       //nolint:gosec // at most 24
	h = append(h, "data"...)
	return binary.LittleEndian.AppendUint32(h, n)
}
