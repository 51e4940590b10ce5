package imaging

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"slices"

	"atelier/media/probe"
)

// gifHead is the size of the header of a GIF file and its logical screen descriptor.
const gifHead = 13

// embedGIF inserts the application extension of the XMP specification, part 3, §1.1.2, after the
// global colour table. Programs that do not know it read the packet as sub-blocks of arbitrary
// sizes: wherever they are when it ends, the bytes after it lead them to the end.
func embedGIF(w io.Writer, r io.Reader, _ int64, xmp []byte) (Marking, error) {
	head, r, err := peek(r, gifHead)
	if err != nil {
		return "", err
	}
	if len(head) < gifHead || !bytes.HasPrefix(head, []byte("GIF89a")) {
		return unmarked(w, r)
	}
	extension := append([]byte("\x21\xff\x0bXMP DataXMP"), xmp...)
	extension = append(extension, 1)
	for n := 0xff; n >= 0; n-- {
		extension = append(extension, byte(n))
	}
	return after(w, gifHead+int(probe.ColourTable(head[10])), append(extension, 0), r)
}

// xmpBox is the type and UUID of the box in the XMP specification, part 3, §1.2.7.
var xmpBox = []byte("uuid\xbe\x7a\xcf\xcb\x97\xa9\x42\xe8\x9c\x71\x99\x94\x91\xe3\xaf\xac")

// embedMP4 appends a box. A movie whose last box extends to the end of the file, or is searched for
// there, is left unchanged.
func embedMP4(w io.Writer, r io.Reader, _ int64, xmp []byte) (Marking, error) {
	last, err := copyBoxes(w, r)
	if err != nil || last == "" || last == "mfra" {
		return MarkingNone, err
	}
	box := binary.BigEndian.AppendUint32(nil, uint32(4+len(xmpBox)+len(xmp))) // #nosec G115 -- a few KiB.
	_, err = w.Write(bytes.Join([][]byte{box, xmpBox, xmp}, nil))
	return MarkingAdded, err
}

// copyBoxes copies a file of boxes and returns the type of the last one, or "" if the boxes do not end with the file.
func copyBoxes(w io.Writer, r io.Reader) (last string, err error) {
	for {
		head, rest, err := peek(r, 16)
		if err != nil || len(head) == 0 {
			return last, err
		}
		r = rest
		size := uint64(0)
		if len(head) >= 8 {
			size, last = uint64(binary.BigEndian.Uint32(head)), string(head[4:8])
		}
		if size == 1 && len(head) == 16 {
			size = binary.BigEndian.Uint64(head[8:])
		}
		if size < 8 || size > 1<<62 {
			_, err := io.Copy(w, r)
			return "", err
		}
		if _, err := io.CopyN(w, r, int64(size)); errors.Is(err, io.EOF) { // #nosec G115 -- checked above.
			return "", nil
		} else if err != nil {
			return "", err
		}
	}
}

// withComment adds a comment to a block of Vorbis comments. It returns nil if block is not one.
// Bytes after the comments are kept.
func withComment(block, comment []byte) []byte {
	at := 0
	next := func() (n int, ok bool) { // reads a number
		if at+4 > len(block) {
			return 0, false
		}
		n = int(binary.LittleEndian.Uint32(block[at:]))
		at += 4
		return n, n <= len(block)-at
	}
	vendor, ok := next()
	if !ok {
		return nil
	}
	at += vendor
	counted := at
	count, ok := next()
	for i := 0; ok && i < count; i++ {
		var n int
		if n, ok = next(); ok {
			at += n
		}
	}
	if !ok {
		return nil
	}
	out := binary.LittleEndian.AppendUint32(bytes.Clone(block[:counted]), uint32(count+1)) // #nosec G115 -- count is below len(block).
	out = append(out, block[counted+4:at]...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(comment))) // #nosec G115 -- a few KiB.
	return append(append(out, comment...), block[at:]...)
}

// xmpComment returns the packet as a comment. No standard defines XMP in such files, but programs
// that scan for packets find it.
func xmpComment(xmp []byte) []byte { return append([]byte("XMP="), xmp...) }

// The metadata blocks of FLAC: the type of comments, the flag of the last block, the mask of a
// size, and the number of bytes that are read at most.
const (
	flacComment = 4
	flacLast    = 0x80
	flacSize    = 1<<24 - 1
	flacMost    = 1 << 20
)

func flacBlock(kind byte, body []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(body))) // #nosec G115 -- little more than flacMost.
	b[0] = kind
	return append(b, body...)
}

// embedFLAC adds the packet to the comments. If there are none, it adds comments after the first metadata block, which
// describes the stream. A file with more metadata than flacMost is left unchanged.
func embedFLAC(w io.Writer, r io.Reader, _ int64, xmp []byte) (Marking, error) {
	head, whole, err := peek(r, flacMost)
	if err != nil {
		return "", err
	}
	if labelled := flacWithComment(head, xmpComment(xmp)); labelled != nil {
		return joined(w, bytes.NewReader(labelled), r)
	}
	return unmarked(w, whole)
}

// flacWithComment returns the beginning of a file with the comment added, or nil if it has no place for one.
func flacWithComment(head, comment []byte) []byte {
	if !bytes.HasPrefix(head, []byte("fLaC\x00")) && !bytes.HasPrefix(head, []byte("fLaC\x80")) {
		return nil
	}
	first := 0 // where the first block ends
	for at, last := 4, false; !last; {
		if at+4 > len(head) {
			return nil
		}
		kind, size := head[at], int(binary.BigEndian.Uint32(head[at:])&flacSize)
		end := at + 4 + size
		if end > len(head) {
			return nil
		}
		if kind&^flacLast == flacComment {
			body := withComment(head[at+4:end], comment)
			if body == nil {
				return nil
			}
			return slices.Concat(head[:at], flacBlock(kind, body), head[end:])
		}
		if first == 0 {
			first = end
		}
		at, last = end, kind&flacLast != 0
	}
	out := bytes.Clone(head[:first])
	kind := out[4]&flacLast | flacComment // the last block if the first one was
	out[4] &^= flacLast
	return slices.Concat(out, flacBlock(kind, withComment(make([]byte, 8), comment)), head[first:])
}

// Sizes and offsets in an Ogg page (RFC 3533, §6).
const (
	oggHead     = 27
	oggChecksum = 22
	oggMost     = oggHead + 255 + 255*255
)

// embedOpus adds the packet to the comments, which are on a page of their own, the second one
// (RFC 7845, §3). Comments on more than one page, and other codecs, are left unchanged.
func embedOpus(w io.Writer, r io.Reader, _ int64, xmp []byte) (Marking, error) {
	head, whole, err := peek(r, 2*oggMost)
	if err != nil {
		return "", err
	}
	first := oggPage(head)
	page := oggPage(head[len(first):])
	labelled := opusWithComment(page, xmpComment(xmp))
	if len(first) == 0 || labelled == nil {
		return unmarked(w, whole)
	}
	return joined(w, bytes.NewReader(first), bytes.NewReader(labelled), bytes.NewReader(head[len(first)+len(page):]), r)
}

// oggPage returns the page at the start of b, or nil if there is none or it is incomplete.
func oggPage(b []byte) []byte {
	if len(b) < oggHead || !bytes.HasPrefix(b, []byte("OggS\x00")) {
		return nil
	}
	size := oggHead + int(b[oggHead-1])
	if size > len(b) {
		return nil
	}
	for _, part := range b[oggHead:size] {
		size += int(part)
	}
	if size > len(b) {
		return nil
	}
	return b[:size]
}

// opusWithComment returns a page of comments with one more, or nil if page is not one or has no room.
func opusWithComment(page, comment []byte) []byte {
	const magic = "OpusTags"
	if len(page) == 0 {
		return nil
	}
	parts := page[oggHead : oggHead+int(page[oggHead-1])]
	body := page[oggHead+len(parts):]
	if len(parts) == 0 || len(body)/255+1 != len(parts) || !bytes.HasPrefix(body, []byte(magic)) { // more than one packet, or a part of one
		return nil
	}
	comments := withComment(body[len(magic):], comment)
	size := len(magic) + len(comments)
	if comments == nil || size/255+1 > 255 {
		return nil
	}
	out := append(bytes.Clone(page[:oggHead-1]), byte(size/255+1)) // #nosec G115 -- checked above.
	out = append(out, bytes.Repeat([]byte{255}, size/255)...)
	out = append(append(out, byte(size%255)), magic...) // #nosec G115 -- below 255.
	out = append(out, comments...)
	binary.LittleEndian.PutUint32(out[oggChecksum:], 0)
	binary.LittleEndian.PutUint32(out[oggChecksum:], oggSum(out))
	return out
}

// oggSum returns the checksum of a page whose checksum field is 0.
func oggSum(page []byte) (crc uint32) {
	for _, c := range page {
		crc ^= uint32(c) << 24
		for range 8 {
			if crc&(1<<31) != 0 {
				crc = crc<<1 ^ 0x04c11db7
			} else {
				crc <<= 1
			}
		}
	}
	return crc
}
