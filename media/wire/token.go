package wire

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"atelier/media"
)

const (
	magic     = "atelier-blob/1 " // 15 bytes: 20 characters of base64, whatever follows
	noneMagic = "atelier-none/1 " // a tombstone
	macBytes  = 16
	minSecret = 16
	maxToken  = 512 // characters; a longer text is not a token
)

const (
	// TokenPrefix begins every token.
	TokenPrefix = "YXRlbGllci1ibG9iLzEg" //nolint:gosec // public: base64 of the marker's first word
	// TombstonePrefix begins every tombstone, which replaces an item that could not be stored.
	TombstonePrefix = "YXRlbGllci1ub25lLzEg"
	// familyPrefix is the common beginning of both.
	familyPrefix = "YXRlbGllci1"
)

// Variant is the base64 encoding in which an item arrives and is sent back. The zero value means [VariantStd].
type Variant byte

// The variants.
const (
	VariantStd    Variant = '0' // + and /, padded
	VariantURL    Variant = '1' // - and _, padded
	VariantRawStd Variant = '2' // + and /, not padded
	VariantRawURL Variant = '3' // - and _, not padded
)

func variantOf(url, padded bool) Variant {
	v := VariantStd
	if url {
		v++
	}
	if !padded {
		v += 2
	}
	return v
}

func (v Variant) url() bool    { return v == VariantURL || v == VariantRawURL }
func (v Variant) padded() bool { return v != VariantRawStd && v != VariantRawURL }

// length returns the number of base64 characters for n bytes.
func (v Variant) length(n int64) int64 {
	if v.padded() {
		return (n + 2) / 3 * 4
	}
	return (n*8 + 5) / 6
}

// signer signs with the first key and verifies with all keys.
type signer struct {
	keys []Key
}

func newSigner(keys []Key) (signer, error) {
	if len(keys) == 0 {
		return signer{}, media.Errorf(media.CodeInvalid, "wire codec: Config.Keys is empty: give the deployment's key")
	}
	for i, k := range keys {
		if len(k.ID) == 0 || len(k.ID) > 16 || strings.Trim(k.ID, "-._0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
			return signer{}, media.Errorf(media.CodeInvalid, "wire codec: id of key %d must be 1 to 16 letters, digits, '-', '_' or '.'", i+1)
		}
		if len(k.Secret) < minSecret {
			return signer{}, media.Errorf(media.CodeInvalid, "wire codec: the secret of key %q has %d bytes: use at least %d", k.ID, len(k.Secret), minSecret)
		}
	}
	return signer{keys: slices.Clone(keys)}, nil
}

// mac returns the signature of body for scope: the first 16 bytes of an HMAC-SHA256, in hexadecimal.
func mac(secret []byte, scope, body string) string {
	h := hmac.New(sha256.New, secret)
	h.Write([]byte(strconv.Itoa(len(scope)) + ":" + scope + "|" + body))
	return hex.EncodeToString(h.Sum(nil)[:macBytes])
}

// valid reports whether sum is the signature of the key with the ID kid.
func (s signer) valid(kid, scope, body, sum string) bool {
	for _, k := range s.keys {
		if k.ID == kid {
			return hmac.Equal([]byte(mac(k.Secret, scope, body)), []byte(sum))
		}
	}
	return false
}

// Marker returns the plain form of a token, for multipart parts and for SDKs that encode bytes themselves. It is ASCII
// and padded with blanks to a multiple of 3 bytes, and its base64 is the same text in every alphabet.
func (c *Codec) Marker(scope string, b media.Blob, v Variant) string {
	if v == 0 {
		v = VariantStd
	}
	k := c.signer.keys[0]
	body := strings.Join([]string{b.Digest.Hex(), strconv.FormatInt(b.SizeBytes, 10), tokenType(b.MIMEType), string(v), k.ID}, " ")
	return padded(magic + body + " " + mac(k.Secret, scope, body))
}

// Token returns the text that replaces b in the scope, which is the id of a run tree. The text is the same in every
// process that has the key.
func (c *Codec) Token(scope string, b media.Blob, v Variant) string {
	return base64.StdEncoding.EncodeToString([]byte(c.Marker(scope, b, v)))
}

func padded(s string) string { return s + strings.Repeat(" ", (3-len(s)%3)%3) }

// tombstone returns the text that replaces the n-th item of a stream, which could not be stored.
func tombstone(code media.Code, n int) string {
	return base64.StdEncoding.EncodeToString([]byte(padded(noneMagic + string(code) + " " + strconv.Itoa(n))))
}

// tokenType returns a MIME type that fits into a token: t itself, or application/octet-stream. It excludes '>', '?' and
// '~', which can become '+' or '/' in base64.
func tokenType(t string) string {
	ok := t != "" && len(t) <= 100
	for i := 0; ok && i < len(t); i++ {
		c := t[i]
		ok = c > ' ' && c < 0x7f && c != '>' && c != '?' && c != '~'
	}
	if !ok {
		return "application/octet-stream"
	}
	return t
}

// Parse reads a token or a marker that is signed for the scope. The blob has only its digest, size and type. A forged
// token, one of another scope and an empty scope are [media.CodeForbidden]. A tombstone, which is not signed, returns
// the code of its item.
func (c *Codec) Parse(scope, text string) (media.Blob, Variant, error) {
	deny := media.Errorf(media.CodeForbidden, "the media token is not valid in this run: use the ref of an item of this run")
	plain := text
	if strings.HasPrefix(text, familyPrefix) && len(text) <= maxToken && runEnd([]byte(text), 0) == len(text) {
		raw, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return media.Blob{}, 0, deny
		}
		plain = string(raw)
	}
	plain = strings.TrimRight(plain, " ")
	if code, ok := strings.CutPrefix(plain, noneMagic); ok {
		code, _, _ = strings.Cut(code, " ")
		return media.Blob{}, 0, media.Errorf(media.Code(code), "the media item could not be stored: %s", code)
	}
	plain, ok := strings.CutPrefix(plain, magic)
	cut := strings.LastIndexByte(plain, ' ')
	f := strings.Split(plain, " ")
	if !ok || scope == "" || len(f) != 6 || len(f[3]) != 1 || f[3][0] < '0' || f[3][0] > '3' || !c.signer.valid(f[4], scope, plain[:cut], f[5]) {
		return media.Blob{}, 0, deny
	}
	d, err := media.ParseDigest("sha256-" + f[0])
	n, nerr := strconv.ParseInt(f[1], 10, 64)
	if err != nil || nerr != nil || n < 0 {
		return media.Blob{}, 0, deny
	}
	return media.Blob{Digest: d, SizeBytes: n, Facts: media.Facts{MIMEType: f[2]}}, Variant(f[3][0]), nil
}
