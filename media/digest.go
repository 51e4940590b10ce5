package media

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// digestPrefix names the hash, so that another one can be added beside it.
const digestPrefix = "sha256-"

// Digest is the SHA-256 of some bytes and their key in the blob store. It is comparable; the zero value is invalid. Its
// text form is "sha256-" and 64 lower case hexadecimal digits, which sha256sum can check.
type Digest struct {
	sum [sha256.Size]byte
	set bool
}

// NewDigest creates a digest from a finished SHA-256 sum.
func NewDigest(sum [sha256.Size]byte) Digest { return Digest{sum: sum, set: true} }

// DigestOf hashes b.
func DigestOf(b []byte) Digest { return NewDigest(sha256.Sum256(b)) }

// ParseDigest reads the text form. The error has code [CodeInvalid].
func ParseDigest(s string) (Digest, error) {
	h, ok := strings.CutPrefix(s, digestPrefix)
	if !ok || len(h) != hex.EncodedLen(sha256.Size) || strings.ToLower(h) != h {
		return Digest{}, Errorf(CodeInvalid, "%q is not a digest: want sha256- and 64 lower case hexadecimal digits", clip(s))
	}
	d := Digest{set: true}
	if _, err := hex.Decode(d.sum[:], []byte(h)); err != nil {
		return Digest{}, Errorf(CodeInvalid, "%q is not a digest: %v", clip(s), err)
	}
	return d, nil
}

// IsZero reports whether the digest is unset.
func (d Digest) IsZero() bool { return !d.set }

// Hex returns the 64 hexadecimal digits alone, or "" for the zero digest.
func (d Digest) Hex() string {
	if !d.set {
		return ""
	}
	return hex.EncodeToString(d.sum[:])
}

// String returns the text form, or "" for the zero digest.
func (d Digest) String() string {
	if !d.set {
		return ""
	}
	return digestPrefix + d.Hex()
}

// MarshalText writes the text form; the zero digest is empty text.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads the text form; empty text is the zero digest.
func (d *Digest) UnmarshalText(b []byte) error {
	if len(b) == 0 {
		*d = Digest{}
		return nil
	}
	p, err := ParseDigest(string(b))
	if err == nil {
		*d = p
	}
	return err
}

// clip shortens text that is quoted in an error. ErrorText replaces base64 before the cut, because
// the beginning of a picture is still a part of it.
func clip(s string) string {
	s = ErrorText(s)
	if len(s) > 80 {
		return strings.ToValidUTF8(s[:80], "") + "…"
	}
	return s
}
