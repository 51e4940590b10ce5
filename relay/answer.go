package relay

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"os"
	"sync"
)

// payload is the body of a request, which can be read more than once: a connection that the
// provider closed while nobody used it is found out only with the next request.
type payload struct {
	io.ReaderAt
	io.Closer
	size int64
}

func (p payload) open() (io.ReadCloser, error) {
	return io.NopCloser(io.NewSectionReader(p, 0, p.size)), nil
}

// take reads a request's body whole, so that what goes out does not end with the program.
func (s spool) take(req *http.Request) (payload, error) {
	var small bytes.Buffer
	n, err := io.CopyN(&small, req.Body, smallBody)
	if n < smallBody {
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return payload{bytes.NewReader(small.Bytes()), io.NopCloser(nil), n}, err
	}
	f, err := os.CreateTemp(s.folder, ".request-*")
	if err != nil {
		return payload{}, err
	}
	if err = os.Remove(f.Name()); err == nil { // it goes with whoever has it open
		n, err = io.Copy(f, io.MultiReader(&small, req.Body))
	}
	if err != nil {
		return payload{}, errors.Join(err, f.Close())
	}
	return payload{f, f, n}, nil
}

// hops are the header fields that belong to one connection, and those that mean something to the
// program.
var hops = []string{
	"Connection", "Keep-Alive", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Content-Length",
	failedField, leftField, keptField,
}

// answer keeps an answer, and hands it on: event by event where it is a stream of them, else when it
// is whole, because then the program takes it from the folder. How it ended is kept before the program can see
// its end, which is why it has no length on the way.
func (w *worker) answer(out http.ResponseWriter, id string, res *http.Response) {
	for _, name := range hops {
		res.Header.Del(name)
	}
	k := &keeper{on: out, res: res}
	file, err := os.OpenFile(w.spool.path(id, body), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if k.file, k.lost = file, err; err == nil {
		defer func() { _ = file.Close() }() // what it holds has been looked at
	}
	if kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); kind == "text/event-stream" || k.lost != nil {
		k.begin()
	}
	a := answer{Status: res.StatusCode, Header: fields(res.Header)}
	if err := k.copy(); err != nil {
		a.Cut = err.Error()
	}
	if a.Size = k.size; k.lost == nil {
		k.lost = w.spool.end(id, a) // what is not kept is a call whose answer was lost
	}
	switch {
	case k.begun:
	case k.lost == nil:
		out.Header().Set(keptField, "true")
	default:
		k.begin()
	}
	if k.lost != nil {
		k.drop()
	}
	if k.begun && a.Cut != "" {
		panic(http.ErrAbortHandler) // so that the program sees no whole answer either
	}
}

// keeper writes an answer to its file, and from its beginning on to the program, each for as long as
// it can.
type keeper struct {
	res  *http.Response
	file interface {
		io.Writer
		io.ReaderAt
		Truncate(size int64) error
	}
	size int64 // of what is in the file, or went to the program
	lost error // why the file is of no use
	on   http.ResponseWriter

	begun bool  // it is handed on
	gone  error // why the program gets no more
}

// pieces are what answers are read into.
var pieces = sync.Pool{New: func() any { return new([128 << 10]byte) }}

// copy reads the answer to its end, and tells why it is not whole.
func (k *keeper) copy() error {
	piece := pieces.Get().(*[128 << 10]byte)
	defer pieces.Put(piece)
	n, err := io.CopyBuffer(k, io.LimitReader(k.res.Body, largestAnswer), piece[:])
	if err == nil && n == largestAnswer {
		err = errors.New("the answer is too large")
	}
	return err
}

// begin hands on what there is, and from now on what comes.
func (k *keeper) begin() {
	k.begun = true
	maps.Copy(k.on.Header(), k.res.Header)
	for _, name := range []string{"Content-Type", "Date"} { // else they would be made up
		if _, ok := k.res.Header[name]; !ok {
			k.on.Header()[name] = nil
		}
	}
	k.on.WriteHeader(k.res.StatusCode)
	if k.size > 0 {
		_, k.gone = io.Copy(k.on, k.kept())
	}
	k.flush()
}

// kept is what there is of the body. On a disk that is full it makes room first: what the program makes of the
// answer needs it before it has read all of it.
func (k *keeper) kept() io.Reader {
	file := io.NewSectionReader(k.file, 0, k.size)
	if k.lost == nil || k.size > mostRescued {
		return file
	}
	b := make([]byte, k.size)
	if _, err := io.ReadFull(file, b); err != nil {
		return io.NewSectionReader(k.file, 0, k.size)
	}
	k.drop()
	return bytes.NewReader(b)
}

func (k *keeper) flush() {
	if k.gone == nil {
		k.gone = http.NewResponseController(k.on).Flush()
	}
}

// drop frees the room of what is of no use.
func (k *keeper) drop() { _ = k.file.Truncate(0) }

// Write never fails.
func (k *keeper) Write(p []byte) (int, error) {
	if k.lost == nil {
		if _, k.lost = k.file.Write(p); k.lost != nil {
			if !k.begun {
				k.begin()
			}
			k.drop()
		}
	}
	k.size += int64(len(p))
	if k.begun && k.gone == nil {
		_, k.gone = k.on.Write(p)
		k.flush()
	}
	return len(p), nil
}
