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

// NameReader is [NameMedia] for a stream of text. It uses O(64 KiB) of memory. After an item of more than 32 KiB it may
// also remove the first word of the next line, which could be the end of the item.
func NameReader(src io.Reader) io.Reader { return &namer{src: src, in: make([]byte, 0, 2*windowBytes)} }

type namer struct {
	src    io.Reader
	in     []byte // read and not yet processed
	out    bytes.Buffer
	inside bool // the next bytes continue a run that was replaced
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

// inRun reports whether c is base64 or one of more.
func inRun(c byte, more string) bool { return classes[c] != 0 || strings.IndexByte(more, c) >= 0 }

// skip discards the rest of a run, over line breaks, indentation and escapes.
func (n *namer) skip() {
	k := 0
	for ; k < len(n.in) && (inRun(n.in[k], "=\\%\r\n") || n.indent && inRun(n.in[k], " \t")); k++ {
		n.indent = strings.IndexByte("\r\n \t", n.in[k]) >= 0
	}
	n.inside = k == len(n.in)
	n.in = append(n.in[:0], n.in[k:]...)
}

// name processes the complete part of the input: all of it at the end, otherwise everything before a last run that may
// continue. If that run fills the buffer, it is named up to its last complete line or escape.
func (n *namer) name() {
	cut := len(n.in)
	for k := cut - 1; k >= 0 && n.err == nil && inRun(n.in[k], "=\\%\r\n;,: \t"); k-- {
		if c := n.in[k]; c != ' ' && c != '\t' { // blanks are indentation if a line break precedes them
			if k+1 < cut && c != '\n' && c != '\r' {
				break
			}
			cut = k
		}
	}
	full := cut == 0
	if full { // without the letters of escaped breaks before it
		cut = len(bytes.TrimRight(n.in[:bytes.LastIndexAny(n.in, "\\%\r\n")+1], "\\%nrt \t\r\n"))
	}
	if cut == 0 {
		cut = len(n.in)
	}
	named := NameMedia(string(n.in[:cut]))
	n.inside = full && !bytes.HasSuffix(n.in[:cut], []byte(mediaName)) && strings.HasSuffix(named, mediaName)
	n.out.WriteString(named)
	n.in = append(n.in[:0], n.in[cut:]...)
}
