package wire

import (
	"strconv"

	"atelier/media"
	"atelier/media/probe"
)

// pieced is audio that a stream sends in pieces.
type pieced struct {
	key   string // path with indexes
	field string
	in    *intake
}

// maxSounds is the maximum number of audio items that are open at the same time, since each has an upload in the store.
// The pieces of further ones are separate items.
const maxSounds = 16

// piece returns the intake of the audio of which the current string is a piece. It returns nil for a string that is an
// item by itself.
func (s *scanner) piece(declared string, pcm *PCM) *intake {
	s.open = s.cand.delta && (declared == "" || pcmOfType(declared) != nil)
	if !s.open {
		return nil
	}
	t := s.tracker()
	field := t.path()
	key := field
	for _, f := range t.frames {
		key += "#" + strconv.Itoa(f.index)
	}
	for _, p := range s.pieces {
		if p.key == key {
			return p.in
		}
	}
	head := probe.Head(decodeHead(s.cand.raw, sigChars)).MIMEType
	if s.open = len(s.pieces) < maxSounds && (declared != "" || head == "" || media.ModalityOf(head) == media.ModalityAudio); !s.open {
		return nil
	}
	s.pieces = append(s.pieces, pieced{key, field, s.begin(declared, pcm)})
	return s.pieces[len(s.pieces)-1].in
}

// spoil fails the audio of which the current string is a piece, because the string cannot be read.
func (s *scanner) spoil() {
	if !s.cand.delta {
		return
	}
	declared := s.declaredType()
	if in := s.piece(declared, pcmOfType(declared)); in != nil {
		in.fail(media.Errorf(media.CodeBadResponse, "part of the sound is not base64: an incomplete sound is not accepted"))
	}
}

// endPieces stores and reports the audio that arrived in pieces. If the stream is not whole, the audio fails.
func (s *scanner) endPieces(whole bool) {
	for _, p := range s.pieces {
		if !whole {
			p.in.fail(media.Errorf(media.CodeBadResponse, "the stream broke off after %d bytes of the sound: an incomplete sound is not accepted", p.in.size))
		}
		s.emit(p.in, VariantStd, p.field)
	}
	s.pieces = nil
}
