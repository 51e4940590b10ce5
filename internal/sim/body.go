package sim

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
)

// Body is an answer in pieces, so that pictures are not copied into it. The zero value is empty and ready to use.
type Body struct {
	pieces [][]byte
	size   int
	middle int
}

// Text appends text.
func (b *Body) Text(format string, args ...any) {
	piece := fmt.Appendf(nil, format, args...)
	b.pieces, b.size = append(b.pieces, piece), b.size+len(piece)
}

// Picture appends a picture in base64.
func (b *Body) Picture(p Picture) {
	pieces := p.Base64()
	length := len(pieces[0]) + len(pieces[1])
	b.middle = b.size + length/2
	b.pieces, b.size = append(b.pieces, pieces[:]...), b.size+length
}

// String returns the whole answer.
func (b *Body) String() string { return string(bytes.Join(b.pieces, nil)) }

// Media appends a result in base64, or as raw bytes if [FaultNotMedia] requires it.
func (b *Body) Media(p Picture, f Injection) {
	if f.Fault == FaultNotMedia && f.Variant%2 == 1 {
		b.Text("%s", p.Bytes())
		return
	}
	b.Picture(p)
}

// Write sends the answer as JSON. With [FaultHalfBody] it stops in the middle of the last picture.
func (b *Body) Write(w http.ResponseWriter, f Injection) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.Header().Set("Content-Length", strconv.Itoa(b.size))
	if f.Fault == FaultHalfBody {
		cut(w, []byte(b.String()[:b.middle]))
	}
	for _, piece := range b.pieces {
		if _, err := w.Write(piece); err != nil {
			return
		}
	}
}

// Page is an HTML page as proxies return it.
const Page = "<!DOCTYPE html>\n<html><head><title>Please wait</title></head><body><h1>Checking your connection</h1></body></html>\n"
