package wire

import (
	"strconv"

	"atelier/media"
	"atelier/media/probe"
)

// pieced is a sound of which a stream brings one piece after the other.
type pieced struct {
	key   string // its place, indexes included
	field string
	in    *intake
}

// maxSounds is how many sounds may come in pieces at a time, since each is open in the store; the
// pieces of others are items by themselves.
const maxSounds = 16

// piece returns what takes the sound that the string here is a piece of; nil for what is whole.
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

// spoil fails the sound of which the string here is a piece that cannot be read.
func (s *scanner) spoil() {
	if !s.cand.delta {
		return
	}
	declared := s.declaredType()
	if in := s.piece(declared, pcmOfType(declared)); in != nil {
		in.fail(media.Errorf(media.CodeBadResponse, "part of the sound is not base64: an incomplete sound is not accepted"))
	}
}

// endPieces stores and reports the sounds that came in pieces; unless the stream came whole they
// fail.
func (s *scanner) endPieces(whole bool) {
	for _, p := range s.pieces {
		if !whole {
			p.in.fail(media.Errorf(media.CodeBadResponse, "the stream broke off after %d bytes of the sound: an incomplete sound is not accepted", p.in.size))
		}
		s.emit(p.in, VariantStd, p.field)
	}
	s.pieces = nil
}
