package pdf

import (
	"bytes"
	"cmp"
	"compress/flate"
	"compress/lzw"
	"encoding/ascii85"
	"io"

	early "golang.org/x/image/tiff/lzw"
)

// decode returns a stream's bytes without its filters. For a damaged stream it returns the readable part, for picture
// filters nothing.
func (d *Document) decode(s stream) ([]byte, error) {
	filters, params := d.list(cmp.Or(s.dict["Filter"], s.dict["F"])), d.list(cmp.Or(s.dict["DecodeParms"], s.dict["DP"]))
	if len(filters) == 0 || len(s.raw) == 0 {
		return d.take(bytes.NewReader(s.raw))
	}
	out := s.raw
	for i, f := range filters[:min(len(filters), 8)] {
		var r io.Reader
		p, _ := at[dict](params, i)
		switch f, _ := f.(name); f {
		case "":
			continue // none
		case "FlateDecode", "Fl":
			r = flate.NewReader(bytes.NewReader(out[min(2, len(out)):])) // after the header of zlib
		case "LZWDecode", "LZW":
			r = early.NewReader(bytes.NewReader(out), early.MSB, 8) // codes grow one code early, as in TIFF
			if d.whole(p["EarlyChange"], 1) == 0 {
				r = lzw.NewReader(bytes.NewReader(out), lzw.MSB, 8)
			}
		case "ASCIIHexDecode", "AHx":
			r = bytes.NewReader((&lexer{data: append([]byte{'<'}, out...)}).hex())
		case "ASCII85Decode", "A85":
			text, _, _ := bytes.Cut(bytes.TrimPrefix(bytes.TrimSpace(out), []byte("<~")), []byte("~"))
			r = ascii85.NewDecoder(bytes.NewReader(text))
		case "RunLengthDecode", "RL":
			r = bytes.NewReader(runLength(out))
		default:
			return nil, nil // a picture, or encrypted
		}
		var err error
		if out, err = d.take(r); err != nil {
			return nil, err
		}
		out = d.predict(out, p)
	}
	return out, nil
}

// take reads within the limits of the file.
func (d *Document) take(r io.Reader) ([]byte, error) {
	limit := min(maxStream, maxDecoded-d.decoded)
	out, err := io.ReadAll(io.LimitReader(r, int64(limit)+1))
	if len(out) > limit {
		return nil, tooLarge("decodes to more than %d MiB", maxDecoded>>20)
	}
	if err != nil { // what came before the damage is kept
		d.damaged++
	}
	d.decoded += len(out)
	return out, nil
}

// list returns the values of an array, or a single value as an array.
func (d *Document) list(v any) (out array) {
	v = d.resolve(v)
	list, ok := v.(array)
	if !ok && v != nil {
		list = array{v}
	}
	for _, v := range list {
		out = append(out, d.resolve(v))
	}
	return out
}

// predict reverses PNG predictors, which streams of objects have, and TIFF's predictor of bytes, which is PNG's Sub in
// rows without a filter byte.
func (d *Document) predict(b []byte, p dict) []byte {
	kind, colors, bits, columns := d.whole(p["Predictor"], 1), d.whole(p["Colors"], 1), d.whole(p["BitsPerComponent"], 8), d.whole(p["Columns"], 1)
	if kind < 10 && (kind != 2 || bits != 8) || colors < 1 || bits < 1 || columns < 1 || colors > 64 || bits > 32 || columns > 1<<20 {
		return b
	}
	width, pixel := min(len(b), (colors*bits*columns+7)/8), max(1, colors*bits/8)
	out := make([]byte, 0, len(b))
	previous := make([]byte, width)
	for len(b) > 0 {
		filter := byte(1)
		if kind >= 10 {
			filter, b = b[0], b[1:]
		}
		row := b[:min(len(b), width)]
		b = b[len(row):]
		now := make([]byte, width)
		copy(now, row)
		unfilter(filter, now, previous, pixel)
		out = append(out, now[:len(row)]...)
		previous = now
	}
	return out
}

// unfilter reverses one row of a PNG predictor.
func unfilter(kind byte, now, above []byte, pixel int) {
	for i := range now {
		var left, corner byte
		if i >= pixel {
			left, corner = now[i-pixel], above[i-pixel]
		}
		switch kind {
		case 1:
			now[i] += left
		case 2:
			now[i] += above[i]
		case 3:
			now[i] += byte((int(left) + int(above[i])) / 2) //nolint:gosec // the mean of two bytes is a byte
		case 4:
			now[i] += paeth(left, above[i], corner)
		}
	}
}

func paeth(a, b, c byte) byte {
	p := int(a) + int(b) - int(c)
	pa, pb, pc := abs(p-int(a)), abs(p-int(b)), abs(p-int(c))
	switch {
	case pa <= pb && pa <= pc:
		return a
	case pb <= pc:
		return b
	}
	return c
}

func abs(n int) int { return max(n, -n) }

func runLength(b []byte) []byte {
	var out []byte
	for len(b) > 1 && b[0] != 128 && len(out) < maxStream {
		n := int(b[0])
		if n < 128 {
			n = min(n+1, len(b)-1)
			out = append(out, b[1:n+1]...)
			b = b[n+1:]
			continue
		}
		out = append(out, bytes.Repeat(b[1:2], 257-n)...)
		b = b[2:]
	}
	return out
}
