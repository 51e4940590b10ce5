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

// Bytes have other spellings than base64: hexadecimal (databases), lists of numbers
// (Node, Java, Python) and base64 whose signs a URL escaped. They count as media only
// with a media signature; numbers and checksums are far more often what they seem.

// How long such a spelling must be, in bytes of media, to be taken undeclared.
const (
	minNumbers = 64
	minHex     = 128
	minSigned  = 24 // where the value is declared, or marked as hexadecimal
)

// headBytes is how many bytes are decoded to look for a signature.
const headBytes = 96

// hexadecimal decodes a text that is one media item in hexadecimal, also in the
// spellings of PostgreSQL (\x…), C (0x…) and SQL (X'…').
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

// byteList reads a list of numbers as bytes; at gives the number at a place.
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

// asByte reads a number from -128 to 255; Java writes bytes with a sign.
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

// keepBytes keeps what another spelling held.
func (p *pass) keepBytes(ctx context.Context, b []byte) any {
	return p.item(p.keep(ctx, strings.NewReader(string(b)), media.Meta{}))
}

// unescaped returns a text with URL escapes taken out of every long run of base64, so
// that it is found whole: %2B, %2F, %3D and line ends.
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

// escapedRun finds the end of the base64 that begins at i, and counts its escapes.
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
