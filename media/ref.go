package media

import (
	"cmp"
	"encoding/base32"
	"net/url"
	"path"
	"strings"
)

// refDigits is the number of base-32 characters of the digest in a ref (40 bits).
const refDigits = 8

const crockfordDigits = "0123456789abcdefghjkmnpqrstvwxyz"

var crockford = base32.NewEncoding(crockfordDigits).WithPadding(base32.NoPadding)

// Ref is the short name of a media item inside a run tree: img-, aud-, vid- or doc- and the first 8 Crockford base-32
// characters of its digest, lower case. Language models copy it reliably. The zero value is invalid.
type Ref string

// RefOf returns the ref of a digest. Equal bytes of one modality have equal refs everywhere, so
// replays and parallel agents agree without a counter.
func RefOf(m Modality, d Digest) Ref {
	if d.IsZero() {
		return ""
	}
	prefix := map[Modality]string{ModalityImage: "img-", ModalityAudio: "aud-", ModalityVideo: "vid-"}[m]
	return Ref(cmp.Or(prefix, "doc-") + crockford.EncodeToString(d.sum[:5]))
}

// ParseRef parses a bare ref, a placeholder or an Atelier media URL (…/media/REF), because models
// write all three. The error has code [CodeInvalid].
func ParseRef(s string) (Ref, error) {
	t := strings.TrimSpace(s)
	if inner, ok := strings.CutPrefix(t, placeholderOpen); ok {
		t = strings.TrimSuffix(inner, "}")
	} else if strings.Contains(t, "/") {
		if u, err := url.Parse(t); err == nil {
			t = path.Base(u.Path)
			t = strings.TrimSuffix(t, path.Ext(t))
		}
	}
	t = strings.ToLower(strings.TrimSpace(t))
	if !validRef(t) {
		return "", Errorf(CodeInvalid, "%q is not a media ref: want something like img-7k3m9q2x", clip(s))
	}
	return Ref(t), nil
}

func validRef(s string) bool {
	if len(s) != 4+refDigits {
		return false
	}
	switch s[:4] {
	case "img-", "aud-", "vid-", "doc-":
	default:
		return false
	}
	return strings.Trim(s[4:], crockfordDigits) == ""
}

// Modality returns the modality that the ref's prefix names.
func (r Ref) Modality() Modality {
	switch {
	case strings.HasPrefix(string(r), "img-"):
		return ModalityImage
	case strings.HasPrefix(string(r), "aud-"):
		return ModalityAudio
	case strings.HasPrefix(string(r), "vid-"):
		return ModalityVideo
	}
	return ModalityDocument
}

// Placeholder returns the placeholder of the ref: ${media:REF}.
func (r Ref) Placeholder() string { return placeholderOpen + string(r) + "}" }
