package action

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"math"
	"net/url"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"

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

// escape matches the URL escape of +, /, =, -, _ or a line end.
const escape = `%(?:2[BbDdFf]|3[Dd]|0[ADad]|5[Ff])`

// hasEscape finds an escape, and escapable matches a run of base64 with escapes and with the mark of a data URL. Both are
// compiled on first use.
var (
	hasEscape = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(escape) })
	escapable = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?:base64,)?(?:[A-Za-z0-9+/_=-]|` + escape + `)+`)
	})
)

// unescaped removes the URL escapes from every long run of base64, so that the whole run is found.
func unescaped(s string) string {
	if !strings.Contains(s, "%") || !hasEscape().MatchString(s) { // most texts with a percent sign have none
		return s
	}
	return escapable().ReplaceAllStringFunc(s, func(run string) string {
		plain, _ := url.PathUnescape(run) // its escapes are valid
		if strings.HasPrefix(run, "base64,") || len(run) >= 256 && plain != run && wire.NameMedia(plain) != plain {
			return plain
		}
		return run
	})
}
