package action

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"math"
	"net/url"
	"reflect"
	"strconv"
	"strings"

	"atelier/media"
	"atelier/media/probe"
	"atelier/media/wire"
)

// Bytes have other encodings than base64: hexadecimal (databases), lists of numbers (Node, Java, Python) and base64
// with URL escapes. They count as media only with a media signature, because most numbers and checksums are not media.

// Minimum lengths of such an encoding in an undeclared value, in bytes of media.
const (
	minNumbers = 64
	minHex     = 128
	minSigned  = 24 // if the value is declared, or marked as hexadecimal
)

// headBytes is the number of bytes that are decoded to find a signature.
const headBytes = 96

// hexadecimal decodes a text that is one media item in hexadecimal, including the notations of PostgreSQL (\x…), C
// (0x…) and SQL (X'…').
func hexadecimal(s string, declared bool) ([]byte, bool) {
	digits, prefixed := s, true
	switch {
	case strings.HasPrefix(s, `\x`), strings.HasPrefix(s, "0x"):
		digits = s[2:]
	case len(s) > 3 && (s[0] == 'X' || s[0] == 'x') && s[1] == '\'' && s[len(s)-1] == '\'':
		digits = s[2 : len(s)-1]
	default:
		prefixed = false
	}
	least := minHex
	if declared || prefixed {
		least = minSigned
	}
	if len(digits)%2 != 0 || len(digits) < 2*least {
		return nil, false
	}
	head, err := hex.DecodeString(digits[:min(len(digits), 2*headBytes)])
	if err != nil || !probe.Media(head) {
		return nil, false
	}
	b, err := hex.DecodeString(digits)
	return b, err == nil
}

// byteList reads a list of numbers as bytes; at returns the number at an index.
func byteList(n int, declared bool, at func(int) any) ([]byte, bool) {
	least := minNumbers
	if declared {
		least = minSigned
	}
	if n < least {
		return nil, false
	}
	b := make([]byte, min(n, headBytes), n)
	for i := range n {
		c, ok := asByte(at(i))
		switch {
		case !ok, i == headBytes && !probe.Media(b):
			return nil, false
		case i < len(b):
			b[i] = c
		default:
			b = append(b, c)
		}
	}
	return b, probe.Media(b[:min(n, headBytes)])
}

// asByte converts a number from -128 to 255; Java writes signed bytes.
func asByte(v any) (byte, bool) {
	if n, ok := v.(json.Number); ok {
		whole, err := strconv.Atoi(n.String())
		return byte(whole & 0xff), err == nil && whole >= -128 && whole <= 255
	}
	var f float64
	switch r := reflect.ValueOf(v); {
	case r.Kind() == reflect.Float64:
		f = r.Float()
	case r.CanInt():
		f = float64(r.Int())
	case r.CanUint():
		f = float64(r.Uint())
	default:
		return 0, false
	}
	return byte(int(f) & 0xff), f == math.Trunc(f) && f >= -128 && f <= 255
}

// keepBytes stores decoded bytes.
func (p *pass) keepBytes(ctx context.Context, b []byte) any {
	return p.item(p.keep(ctx, strings.NewReader(string(b)), media.Meta{}))
}

// unescaped removes the URL escapes %2B, %2F, %3D and line ends from every long run of base64, so that the whole run is
// found.
func unescaped(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	var out strings.Builder
	kept := 0
	for i := 0; i < len(s); {
		end, escapes := escapedRun(s, i)
		if escapes > 0 {
			plain, err := url.PathUnescape(s[i:end])
			if err != nil {
				plain = s[i:end]
			}
			if end-i >= 256 && wire.NameMedia(plain) != plain || strings.HasSuffix(s[:i], "base64,") {
				out.WriteString(s[kept:i])
				out.WriteString(plain)
				kept = end
			}
		}
		i = max(end, i+1)
	}
	if kept == 0 {
		return s
	}
	out.WriteString(s[kept:])
	return out.String()
}

// escapedRun returns the end of the base64 that begins at i, and the number of its escapes.
func escapedRun(s string, i int) (end, escapes int) {
	for i < len(s) {
		switch {
		case strings.IndexByte("+/-_=", s[i]) >= 0, s[i] >= '0' && s[i] <= '9', s[i]|0x20 >= 'a' && s[i]|0x20 <= 'z':
			i++
		case s[i] == '%' && i+3 <= len(s) && strings.Contains("2B 2b 2F 2f 3D 3d 0A 0a 0D 0d 2D 2d 5F 5f", s[i+1:i+3]) && s[i+2] != ' ' && s[i+1] != ' ':
			i, escapes = i+3, escapes+1
		default:
			return i, escapes
		}
	}
	return i, escapes
}
