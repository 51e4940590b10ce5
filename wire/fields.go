package wire

import (
	"slices"
	"strings"
)

// Fields says where a provider puts media. A field is named by its key ("b64_json")
// or by the end of its path, dots between keys and array indexes left out
// ("inlineData.data"). JSON inside JSON strings is looked into as well.
type Fields struct {
	// Media fields hold base64 or a data: URL; they are lifted at any size.
	Media []string
	// Never fields are passed on whatever they hold: signed thoughts and the like. An
	// entry "data@redacted_thinking" means the field data of an object whose type field
	// says redacted_thinking. [NeverFields] are always added.
	Never []string
	// PCM fields hold raw samples in this shape, unless a MIME type beside them says
	// otherwise. They are media fields too.
	PCM map[string]PCM
}

// NeverFields lists the fields of known providers that hold base64 which must come
// back unchanged and is no media.
func NeverFields() []string {
	return []string{
		"thoughtSignature", "thought_signature", "signature", "encrypted_content",
		"encryptedContent", "redactedContent", "data@redacted_thinking", "data@reasoning.encrypted",
		"encrypted_stdout", "embedding",
	}
}

// fieldKind is what is known of a string from its place.
type fieldKind byte

const (
	fieldOther fieldKind = iota
	fieldMedia
	fieldNever
)

// rule is one compiled entry of Fields.
type rule struct {
	kind    fieldKind
	parents []string // from the inside out
	typ     string   // sibling type, if it matters
	pcm     *PCM
}

// fieldSet finds rules by last key.
type fieldSet map[string][]rule

func compileFields(f Fields) fieldSet {
	set := fieldSet{}
	add := func(name string, r rule) {
		name, r.typ, _ = strings.Cut(name, "@")
		keys := strings.Split(name, ".")
		slices.Reverse(keys)
		r.parents = keys[1:]
		set[keys[0]] = append(set[keys[0]], r)
	}
	for _, n := range append(NeverFields(), f.Never...) {
		add(n, rule{kind: fieldNever})
	}
	for _, n := range f.Media {
		add(n, rule{kind: fieldMedia})
	}
	for n, p := range f.PCM {
		p = p.withDefaults()
		add(n, rule{kind: fieldMedia, pcm: &p})
	}
	return set
}

// find gives what is known of a string at the tracker's place. Never wins.
func (s fieldSet) find(t *tracker) (fieldKind, *PCM) {
	rules, ok := s[string(t.key())]
	if !ok {
		return fieldOther, nil
	}
	kind, pcm := fieldOther, (*PCM)(nil)
	for i := range rules {
		r := &rules[i]
		if r.typ != "" && r.typ != t.sibling(siblingType) || !t.under(r.parents) {
			continue
		}
		if r.kind == fieldNever {
			return fieldNever, nil
		}
		kind = fieldMedia
		if r.pcm != nil {
			pcm = r.pcm
		}
	}
	return kind, pcm
}
