package wire

import (
	"bytes"
	"slices"
	"strings"
)

// Fields describes where a provider puts media. A field is named by its key ("b64_json") or by the end of its path,
// with dots between keys and without array indexes ("inlineData.data"). Fields of JSON inside JSON strings are found
// too.
type Fields struct {
	// Media fields hold base64 or a data: URL, which is lifted at any size.
	Media []string
	// Never fields are passed on unchanged, such as signed thoughts. The entry "data@redacted_thinking" means the field
	// data of an object whose field type is redacted_thinking. Fields for which [NeverField] returns true and the
	// entries of [NeverFields] are always included.
	Never []string
	// PCM fields hold raw samples in this format. A raw PCM type beside the field takes precedence, and so do the bytes
	// if they are a media file or text. PCM fields are also media fields.
	PCM map[string]PCM
	// Deltas fields hold one piece of audio each, encoded separately: raw samples, or a file whose first piece has a
	// header. All pieces at one place of a stream form one item, which is stored and reported when the stream ends or
	// is closed. Each piece is replaced by an empty string. A piece with a MIME type beside it that is not raw PCM is a
	// separate item.
	Deltas []string
}

// AudioDeltas lists the fields in which the event streams of known providers carry audio: chat, Responses and speech of
// OpenAI, and Gemini.
func AudioDeltas() []string {
	return []string{
		"delta.audio.data", "delta@response.audio.delta", "delta@response.output_audio.delta", "audio@speech.audio.delta", "inlineData.data",
	}
}

// NeverFields lists the fields of known providers that hold base64 which is not media and must be returned unchanged.
func NeverFields() []string {
	return []string{
		"thoughtSignature", "thought_signature", "signature", "redactedContent", "data@redacted_thinking", "data@reasoning.encrypted",
		"embeddings.base64",
	}
}

// NeverField reports whether a field with this key holds base64 that is not media and must be returned unchanged: it is
// one of [NeverFields], or begins with "encrypted" or "embedding".
func NeverField(name string) bool {
	return slices.Contains(NeverFields(), name) || strings.HasPrefix(name, "encrypted") || strings.HasPrefix(name, "embedding")
}

// fieldKind is what a field may hold.
type fieldKind byte

const (
	fieldOther fieldKind = iota
	fieldMedia
	fieldNever
)

// rule is one compiled entry of Fields.
type rule struct {
	kind    fieldKind
	parents []string // innermost first
	typ     string   // required value of the sibling field type; empty if there is no such condition
	pcm     *PCM
	delta   bool
}

// found is what the rules say about a string.
type found struct {
	kind  fieldKind
	pcm   *PCM
	delta bool
}

// fieldSet maps the last key of a field to its rules.
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

// find returns what the rules say about a string at the tracker's position. A Never rule takes precedence.
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
