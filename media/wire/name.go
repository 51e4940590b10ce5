package wire

import (
	"bytes"
	"errors"
	"io"
)

// mediaName replaces media in a text that is shown without it.
const mediaName = "[media as base64 left out]"

// NameMedia replaces media in a text that belongs to no run or is cut into windows: the second half of a picture cannot
// be recognized. It finds tokens and the base64 that [Codec.LiftString] finds without a threshold, and leaves all other
// text unchanged, byte for byte.
func NameMedia(s string) string {
	return replaceRuns([]byte(s), ValueOptions{tokens: true}, func(textRun) string { return mediaName })
}

// NameReader is [NameMedia] for a stream of text. It uses O(64 KiB) of memory.
func NameReader(src io.Reader) io.Reader { return &namer{src: src, in: make([]byte, 0, 2*windowBytes)} }

type namer struct {
	src    io.Reader
	in     []byte // read and not yet processed
	out    bytes.Buffer
	inside bool // the next bytes continue a run that was replaced
	err    error
}

func (n *namer) Read(p []byte) (int, error) {
	for n.out.Len() == 0 {
		if n.err != nil {
			return 0, n.err
		}
		k, err := io.ReadFull(n.src, n.in[len(n.in):cap(n.in)])
		if n.in, n.err = n.in[:len(n.in)+k], err; errors.Is(err, io.ErrUnexpectedEOF) {
			n.err = io.EOF
		}
		if n.inside {
			n.skip()
		}
		if !n.inside {
			n.name()
		}
	}
	return n.out.Read(p)
}

// skip discards the rest of a run, over line breaks.
func (n *namer) skip() {
	k := 0
	for k < len(n.in) && (classes[n.in[k]] != 0 || bytes.IndexByte([]byte("=\\\r\n"), n.in[k]) >= 0) {
		k++
	}
	n.inside = k == len(n.in)
	n.in = append(n.in[:0], n.in[k:]...)
}

// name processes the complete part of the input: all of it at the end or if a run fills the buffer, otherwise
// everything before a last run that may continue.
func (n *namer) name() {
	cut := len(n.in)
	for cut > 0 && n.err == nil && (classes[n.in[cut-1]] != 0 || bytes.IndexByte([]byte("=\\\r\n;,:"), n.in[cut-1]) >= 0) {
		cut--
	}
	if cut == 0 { // the run fills the buffer
		cut = len(n.in)
	}
	named := NameMedia(string(n.in[:cut]))
	n.inside = n.err == nil && cut == len(n.in) && cut > 0 && bytes.HasSuffix([]byte(named), []byte(mediaName))
	n.out.WriteString(named)
	n.in = append(n.in[:0], n.in[cut:]...)
}
