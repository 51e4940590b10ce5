package wire

import (
	"bytes"
	"errors"
	"io"
	"strings"
)

// mediaName replaces media in a text that is shown without it.
const mediaName = "[media as base64 left out]"

// NameMedia replaces media in a text that belongs to no run or is cut into windows: the second half of a picture cannot
// be recognized. It finds tokens and the base64 that [Codec.LiftString] finds without a threshold, and leaves all other
// text unchanged, byte for byte.
func NameMedia(s string) string {
	return replaceRuns([]byte(s), ValueOptions{tokens: true}, func(textRun) string { return mediaName })
}

// NameReader is [NameMedia] for a stream of text. It uses O(64 KiB) of memory. After an item of more than 32 KiB without
// padding, it may also remove the first word of the next line, which could be the end of the item.
func NameReader(src io.Reader) io.Reader { return &namer{src: src, in: make([]byte, 0, 2*windowBytes)} }

type namer struct {
	src    io.Reader
	in     []byte // read and not yet processed
	out    bytes.Buffer
	inside bool // the next bytes continue a run that was replaced
	padded bool // padding has been skipped: only more padding continues the run
	indent bool // the last skipped bytes are a line break and blanks
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

// mayContinue reports whether c can continue a run: base64, the start of an escape, padding or a line break.
func mayContinue(c byte) bool { return classes[c] != 0 || bytes.IndexByte([]byte("=\\%\r\n"), c) >= 0 }

// skip discards the rest of a run, over line breaks and indentation.
func (n *namer) skip() {
	k := 0
	for ; k < len(n.in); k++ {
		c := n.in[k]
		n.indent = c == '\n' || c == '\r' || n.indent && (c == ' ' || c == '\t')
		if !n.indent && !mayContinue(c) || n.padded && c != '=' {
			break
		}
		n.padded = c == '='
	}
	if n.inside = k == len(n.in); !n.inside {
		n.padded, n.indent = false, false
	}
	n.in = append(n.in[:0], n.in[k:]...)
}

// name processes the complete part of the input: all of it at the end, otherwise everything before a last run that may
// continue. If that run fills the buffer, it is named up to its last complete line.
func (n *namer) name() {
	cut := len(n.in)
	if n.err == nil {
		cut = completeText(n.in)
	}
	full := cut == 0
	if full {
		if cut = len(bytes.TrimRight(n.in[:bytes.LastIndexAny(n.in, "\\%\r\n")+1], "\\% \t\r\n")); cut == 0 {
			cut = len(n.in)
		}
	}
	named := NameMedia(string(n.in[:cut]))
	n.inside = full && !bytes.HasSuffix(n.in[:cut], []byte(mediaName)) && strings.HasSuffix(named, mediaName)
	n.out.WriteString(named)
	n.in = append(n.in[:0], n.in[cut:]...)
}

// completeText returns the length of b without a run at its end that may continue, and without the head of its data:
// URL.
func completeText(b []byte) int {
	for n := len(b); n > 0; n-- {
		switch c := b[n-1]; {
		case c == ' ' || c == '\t': // indentation if a line break precedes it
			text := len(bytes.TrimRight(b[:n], " \t"))
			if text > 0 && b[text-1] != '\n' && b[text-1] != '\r' {
				return n
			}
			n = text + 1
		case !mayContinue(c) && c != ';' && c != ',' && c != ':':
			return n
		}
	}
	return 0
}
