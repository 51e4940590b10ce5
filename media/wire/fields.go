package wire

import (
	"bytes"
	"slices"
	"strings"
)

// Fields says where a provider puts media. A field is named by its key ("b64_json")
// or by the end of its path, dots between keys and array indexes omitted
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
	// Deltas fields hold one piece of a sound each, encoded on its own: raw samples, or what
	// begins with a header. All pieces at one place of a stream are one item, which is stored
	// and reported when the stream ends or is closed; an empty string stands where they were.
	// Where the type beside a piece is not one of raw samples it is an item by itself.
	Deltas []string
}

// AudioDeltas lists the fields in which the event streams of known providers bring sound:
// OpenAI's chat, Responses and speech, and Gemini's.
func AudioDeltas() []string {
	return []string{
		"delta.audio.data", "delta@response.audio.delta", "delta@response.output_audio.delta", "audio@speech.audio.delta", "inlineData.data",
	}
}

// NeverFields lists the fields of known providers that hold base64 which must come
// back unchanged and is no media.
func NeverFields() []string {
	return []string{
		"thoughtSignature", "thought_signature", "signature", "redactedContent", "data@redacted_thinking", "data@reasoning.encrypted",
		"embeddings.base64",
	}
}

// NeverField reports whether a field of this name holds base64 that must come back unchanged and
// is no media: one of [NeverFields], or one that is named as encrypted or an embedding.
func NeverField(name string) bool {
	return slices.Contains(NeverFields(), name) || strings.HasPrefix(name, "encrypted") || strings.HasPrefix(name, "embedding")
}

// fieldKind says what a field may hold.
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
	delta   bool
}

// found is what is known of a string from its place.
type found struct {
	kind  fieldKind
	pcm   *PCM
	delta bool
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
	for _, n := range f.Deltas {
		p := PCM{}.withDefaults()
		add(n, rule{kind: fieldMedia, pcm: &p, delta: true})
	}
	return set
}

// find returns what is known of a string at the tracker's place. Never wins.
func (s fieldSet) find(t *tracker) (is found) {
	key := t.key()
	if bytes.HasPrefix(key, []byte("e")) && NeverField(string(key)) {
		return found{kind: fieldNever}
	}
	rules := s[string(key)]
	for i := range rules {
		r := &rules[i]
		if r.typ != "" && r.typ != t.sibling(siblingType) || !t.under(r.parents) {
			continue
		}
		if r.kind == fieldNever {
			return found{kind: fieldNever}
		}
		is.kind, is.delta = fieldMedia, is.delta || r.delta
		if r.pcm != nil {
			is.pcm = r.pcm
		}
	}
	return is
}
