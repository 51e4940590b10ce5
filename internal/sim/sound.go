package sim

import (
	"bytes"
	"encoding/binary"
	"math"
)

// The sample rate of simulated sounds, which are mono with 16 bits.
const soundRate = 24_000

// Sound returns a file in the format wav, mp3, opus, aac or flac whose header declares the given
// duration. It contains a tone in wav, and silence or nothing in other formats. The same seed
// produces the same bytes, a different seed different ones. Other formats return the empty Picture.
func Sound(format string, milliseconds int, seed uint64) Picture {
	switch format {
	case "wav":
		return Raw("audio/wav", append(waveHead(milliseconds), Samples(milliseconds, seed)...))
	case "mp3":
		return Raw("audio/mpeg", frames([]byte{0xff, 0xfb, 0x90, 0xc0}, 417, milliseconds*44_100/1152/1000, seed))
	case "aac": // ADTS with frames of 100 bytes, 1,024 samples at 24 kHz
		return Raw("audio/aac", frames([]byte{0xff, 0xf1, 0x58, 0x40, 100 >> 3, 100&7<<5 | 0x1f, 0xfc}, 100, milliseconds*soundRate/1024/1000, seed))
	case "flac":
		return Raw("audio/flac", flac(milliseconds, seed))
	case "opus":
		return Raw("audio/opus", opus(milliseconds, seed))
	}
	return Picture{}
}

// Samples returns 16-bit little-endian samples of a tone.
func Samples(milliseconds int, seed uint64) []byte {
	n := soundRate * milliseconds / 1000
	b := make([]byte, 0, 2*n)
	pitch := 200 + float64(seed%4096)/16
	for i := range n {
		v := int16(6000 * math.Sin(2*math.Pi*pitch*float64(i)/soundRate))
		b = binary.LittleEndian.AppendUint16(b, uint16(v)) //nolint:gosec // The bit pattern is intended.
	}
	return b
}

// waveHead returns the header before the samples.
func waveHead(milliseconds int) []byte {
	n := uint32(2 * soundRate * milliseconds / 1000) //nolint:gosec // Sounds here are short.
	b := append([]byte("RIFF"), 0, 0, 0, 0)
	binary.LittleEndian.PutUint32(b[4:], n+36)
	b = append(b, "WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00"...)
	b = binary.LittleEndian.AppendUint32(b, soundRate)
	b = binary.LittleEndian.AppendUint32(b, 2*soundRate)
	b = append(b, "\x02\x00\x10\x00data"...)
	return binary.LittleEndian.AppendUint32(b, n)
}

// frames repeats a frame of size bytes; the last bytes of each frame contain the seed.
func frames(head []byte, size, count int, seed uint64) []byte {
	frame := make([]byte, size)
	copy(frame, head)
	binary.BigEndian.PutUint64(frame[size-8:], seed>>8) // none of these bytes looks like the start of a frame
	return bytes.Repeat(frame, max(count, 3))
}

// flac returns the signature, STREAMINFO, and a comment with the seed.
func flac(milliseconds int, seed uint64) []byte {
	info := make([]byte, 34)
	binary.BigEndian.PutUint16(info, 4096)
	binary.BigEndian.PutUint16(info[2:], 4096)
	samples := uint64(soundRate * milliseconds / 1000) //nolint:gosec // Sounds here are short.
	binary.BigEndian.PutUint64(info[10:], soundRate<<44|15<<36|samples)
	b := append([]byte("fLaC\x00\x00\x00\x22"), info...)
	b = append(b, 0x82, 0, 0, 8) // the last block, of a private application
	return binary.BigEndian.AppendUint64(b, seed)
}

// opus returns an Ogg file of three pages: header, tags, and the end with its position.
func opus(milliseconds int, seed uint64) []byte {
	head := append([]byte("OpusHead\x01\x01\x00\x00"), 0xc0, 0x5d, 0, 0, 0, 0, 0)
	tags := append(binary.BigEndian.AppendUint64([]byte("OpusTags\x08\x00\x00\x00"), seed), 0, 0, 0, 0) // no comments
	end := uint64(48 * milliseconds)                                                                    //nolint:gosec // Sounds here are short.
	serial := uint32(seed)                                                                              //nolint:gosec // The truncation is intended.
	b := page(2, 0, serial, 0, head)
	b = append(b, page(0, 0, serial, 1, tags)...)
	return append(b, page(4, end, serial, 2, []byte{0xf8, 0xff, 0xfe})...)
}

// page returns one Ogg page with one short packet.
func page(flags byte, position uint64, serial, number uint32, packet []byte) []byte {
	b := append([]byte("OggS\x00"), flags)
	b = binary.LittleEndian.AppendUint64(b, position)
	b = binary.LittleEndian.AppendUint32(b, serial)
	b = binary.LittleEndian.AppendUint32(b, number)
	b = append(b, 0, 0, 0, 0, 1, byte(len(packet))) //nolint:gosec // Packets here are short.
	b = append(b, packet...)
	var crc uint32
	for _, c := range b {
		crc ^= uint32(c) << 24
		for range 8 {
			if crc&0x80000000 != 0 {
				crc = crc<<1 ^ 0x04c11db7
			} else {
				crc <<= 1
			}
		}
	}
	binary.LittleEndian.PutUint32(b[22:], crc)
	return b
}
