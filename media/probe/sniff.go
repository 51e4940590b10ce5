package probe

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// The types that this package recognises.
const (
	typePNG  = "image/png"
	typeJPEG = "image/jpeg"
	typeGIF  = "image/gif"
	typeWebP = "image/webp"
	typeBMP  = "image/bmp"
	typeAVIF = "image/avif"
	typeHEIC = "image/heic"
	typeTIFF = "image/tiff"
	typeSVG  = "image/svg+xml"
	typePDF  = "application/pdf"
	typeMP4  = "video/mp4"
	typeM4A  = "audio/mp4"
	typeMOV  = "video/quicktime"
	typeWebM = "video/webm"
	typeMKV  = "video/x-matroska"
	typeWAV  = "audio/wav"
	typeMP3  = "audio/mpeg"
	typeAAC  = "audio/aac"
	typeOGG  = "audio/ogg"
	typeFLAC = "audio/flac"
	typeHTML = "text/html"
	typeJSON = "application/json"
)

// headSize is the number of bytes at the start of a file that determine its type.
const headSize = 4 << 10

// Media reports whether head begins like a media file; a reliable answer needs at least 18 bytes. It allocates nothing
// and checks signatures only: text formats other than a bare <svg are not recognised. It is meant for hot paths, where
// a false positive is cheap and [Head] is called afterwards.
func Media(head []byte) bool {
	return signature(head) != "" || len(head) >= 5 && string(head[:4]) == "<svg" && strings.IndexByte(" >/\t\n\r", head[4]) >= 0
}

// sniff returns the MIME type, or "" if it is unknown.
func sniff(s *source) string {
	if t := signature(s.span(0, headSize)); t != "" && (t != typeMP3 || likelyMP3(s)) {
		return t
	}
	b := s.span(0, headSize)
	// Like viewers, allow some junk before the mark of a PDF, but text that only mentions it is text.
	i := bytes.Index(b[:min(len(b), 1024)], []byte("%PDF-"))
	t := strings.TrimLeft(strings.TrimPrefix(string(b), "\ufeff"), " \t\r\n")
	switch {
	case i >= 0 && i+7 <= len(b) && (b[i+5] == '1' || b[i+5] == '2') && b[i+6] == '.' && (strings.HasPrefix(t, "%PDF-") || strings.IndexByte("\r\n\x00", b[i-1]) >= 0):
		return typePDF
	case bytes.IndexByte(b, 0) >= 0:
		return ""
	}
	// Markdown and plain text have no signature. The first element after prolog, comments and doctype decides the type
	// of markup.
	switch {
	case strings.HasPrefix(t, "<"):
		name, _ := firstElement(s)
		switch strings.ToLower(name) {
		case "svg":
			return typeSVG
		case "html", "head", "body", "!doctype html":
			return typeHTML
		}
	case strings.HasPrefix(t, "{"), strings.HasPrefix(t, "["):
		return sniffJSON(t)
	}
	return ""
}

// signature returns the type of a binary file from its first bytes, or "".
func signature(b []byte) string {
	if len(b) < 4 {
		return ""
	}
	switch b[0] {
	case 0x89:
		return prefix(b, "\x89PNG\r\n\x1a\n", typePNG)
	case 0xff:
		if b[1] == 0xd8 && b[2] == 0xff && b[3] >= 0xc0 {
			return typeJPEG
		}
		return mpegAudio(b)
	case 'G':
		return prefix(b, "GIF87a", typeGIF) + prefix(b, "GIF89a", typeGIF)
	case 'R':
		if len(b) < 12 || string(b[:4]) != "RIFF" && string(b[:4]) != "RF64" {
			return ""
		}
		return prefix(b[8:], "WEBP", typeWebP) + prefix(b[8:], "WAVE", typeWAV)
	case 'B':
		return bmp(b)
	case '%':
		return prefix(b, "%PDF-", typePDF)
	case 'O':
		return prefix(b, "OggS\x00", typeOGG)
	case 'f':
		return prefix(b, "fLaC", typeFLAC)
	case 'I':
		if string(b[:3]) == "ID3" && b[3] >= 2 && b[3] <= 4 {
			return typeMP3
		}
		return prefix(b, "II*\x00", typeTIFF)
	case 'M':
		return prefix(b, "MM\x00*", typeTIFF)
	case 0x1a:
		return matroskaType(b)
	}
	return isoType(b)
}

func prefix(b []byte, magic, t string) string {
	if len(b) >= len(magic) && string(b[:len(magic)]) == magic {
		return t
	}
	return ""
}

// bmp checks more than the first two letters, because much text begins with them: the reserved
// words must be zero and the size of the second header must be a known one.
func bmp(b []byte) string {
	if len(b) < 18 || b[1] != 'M' || binary.LittleEndian.Uint32(b[6:]) != 0 {
		return ""
	}
	switch binary.LittleEndian.Uint32(b[14:]) {
	case 12, 40, 52, 56, 64, 108, 124:
		return typeBMP
	}
	return ""
}

// mpegAudio recognises a frame header of MP3 or ADTS AAC with valid fields.
func mpegAudio(b []byte) string {
	if b[1]&0xf6 == 0xf0 && b[2]>>2&0x0f < 13 { // layer bits 00: ADTS
		return typeAAC
	}
	if _, ok := parseFrame(b); ok && b[1]>>1&3 == 1 { // layer III
		return typeMP3
	}
	return ""
}

// isoType recognises the MP4 family by the first box. Old QuickTime files have no ftyp box and
// begin with a moov or wide box.
func isoType(b []byte) string {
	if len(b) < 12 {
		return ""
	}
	size := binary.BigEndian.Uint32(b)
	switch string(b[4:8]) {
	case "ftyp":
		if size < 8 || size > 1<<16 {
			return ""
		}
		for i := 8; i+4 <= min(len(b), int(size)); i += 4 {
			if i == 12 { // the version, between the major brand and the compatible ones
				continue
			}
			switch string(b[i : i+4]) {
			case "avif", "avis":
				return typeAVIF
			case "heic", "heix", "hevc", "heim", "heis":
				return typeHEIC
			case "qt  ":
				return typeMOV
			case "M4A ", "M4B ":
				return typeM4A
			}
		}
		return typeMP4
	case "moov", "wide":
		if size >= 8 && b[0] < 0x10 {
			return typeMOV
		}
	}
	return ""
}

// matroskaType reads the document type of an EBML header.
func matroskaType(b []byte) string {
	if string(b[:4]) != "\x1aE\xdf\xa3" {
		return ""
	}
	head := b[:min(len(b), 256)]
	i := bytes.Index(head, []byte{0x42, 0x82})
	if i >= 0 && bytes.HasPrefix(head[min(i+3, len(head)):], []byte("matroska")) {
		return typeMKV
	}
	return typeWebM
}

// sniffJSON accepts text that is valid JSON as far as it was read, and complete if it is short. A
// Markdown link begins like an array and fails at its second token.
func sniffJSON(t string) string {
	d, depth := json.NewDecoder(strings.NewReader(t)), 0
	for range 64 {
		tok, err := d.Token()
		switch {
		case errors.Is(err, io.EOF) && depth == 0, (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)) && len(t) > headSize/2:
			return typeJSON
		case err != nil:
			return ""
		}
		switch tok {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
	}
	return typeJSON
}
