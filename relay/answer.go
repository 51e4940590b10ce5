package relay

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"net/http"
	"os"
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
	failedField, leftField,
}

// answer hands an answer on and keeps it. How it ended is kept before the program can see its end,
// which is why it has no length on the way.
func (w *worker) answer(out http.ResponseWriter, id string, res *http.Response) {
	for _, name := range hops {
		res.Header.Del(name)
	}
	maps.Copy(out.Header(), res.Header)
	for _, name := range []string{"Content-Type", "Date"} { // else they would be made up
		if _, ok := res.Header[name]; !ok {
			out.Header()[name] = nil
		}
	}
	out.WriteHeader(res.StatusCode)
	a := answer{Status: res.StatusCode, Header: fields(res.Header)}
	keep, err := os.OpenFile(w.spool.path(id, body), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	k := &keeper{file: keep, lost: err, on: out, flush: http.NewResponseController(out).Flush}
	_ = k.flush() // the program may have ended
	if a.Size, err = io.Copy(k, io.LimitReader(res.Body, largestAnswer)); err != nil {
		a.Cut = err.Error()
	} else if a.Size == largestAnswer {
		a.Cut = "the answer is too large"
	}
	if keep != nil {
		k.lost = errors.Join(k.lost, keep.Close())
	}
	if k.lost == nil {
		_ = w.spool.end(id, a) // what is not kept is a call whose answer was lost
	}
	if a.Cut != "" {
		panic(http.ErrAbortHandler) // so that the program sees no whole answer either
	}
}

// keeper writes an answer to its file and to the program, each for as long as it can.
type keeper struct {
	file  *os.File
	lost  error // why the file is of no use
	on    io.Writer
	gone  error // why the program gets no more
	flush func() error
}

// Write never fails.
func (k *keeper) Write(p []byte) (int, error) {
	if k.lost == nil {
		_, k.lost = k.file.Write(p)
	}
	if k.gone == nil {
		if _, k.gone = k.on.Write(p); k.gone == nil {
			k.gone = k.flush()
		}
	}
	return len(p), nil
}
