package relay

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"atelier/journal"
)

// spool is the folder of calls.
type spool struct{ folder string }

// The states of a call, as the ends of file names.
const (
	ready = ".ready"
	void  = ".void"
	sent  = ".sent"
	body  = ".body"
	head  = ".head"
)

// keptFor is how long the answer of a call is kept that nobody asks for.
const keptFor = 30 * 24 * time.Hour

// answer is how a call ended.
type answer struct {
	Status int    `json:"status,omitempty"`
	Header fields `json:"header,omitempty"`
	// Size is how much of the body came.
	Size int64 `json:"size,omitempty"`
	// Cut is why the body ended early.
	Cut string `json:"cut,omitempty"`
	// Failed is why there is no answer; Left reports whether the request had left this machine.
	Failed string `json:"failed,omitempty"`
	Left   bool   `json:"left,omitempty"`
}

// fields are header fields. They are kept as bytes, because not all are text.
type fields http.Header

// MarshalJSON implements json.Marshaler.
func (f fields) MarshalJSON() ([]byte, error) {
	kept := make(map[string][][]byte, len(f))
	for name, values := range f {
		for _, v := range values {
			kept[name] = append(kept[name], []byte(v))
		}
	}
	return json.Marshal(kept)
}

// UnmarshalJSON implements json.Unmarshaler.
func (f *fields) UnmarshalJSON(b []byte) error {
	var kept map[string][][]byte
	if err := json.Unmarshal(b, &kept); err != nil {
		return err
	}
	*f = fields{}
	for name, values := range kept {
		for _, v := range values {
			(*f)[name] = append((*f)[name], string(v))
		}
	}
	return nil
}

// errDamaged says that what is kept is not what came, after a loss of power for instance.
var errDamaged = errors.New("the answer that was kept is damaged")

// parse reads how a call ended.
func parse(b []byte) (answer, error) {
	var a answer
	if err := json.Unmarshal(b, &a); err != nil {
		return answer{}, errDamaged
	}
	if a.Failed == "" && (a.Status < 100 || a.Status > 999 || a.Size < 0) {
		return answer{}, errDamaged
	}
	return a, nil
}

func (s spool) path(id, state string) string { return filepath.Join(s.folder, id+state) }

// knows reports whether there was such a call.
func (s spool) knows(id string) bool {
	return s.has(id, ready) || s.has(id, sent) || s.has(id, head) || s.has(id, void)
}

// prepare notes a call that nobody has sent; one that was given up counts as none.
func (s spool) prepare(id string) error {
	if os.Rename(s.path(id, void), s.path(id, ready)) == nil {
		return nil
	}
	if s.knows(id) {
		return fmt.Errorf("the call %s: %w", id, fs.ErrExist)
	}
	f, err := os.OpenFile(s.path(id, ready), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// errVoid says that a call may not be sent: it was given up, or it was sent before.
var errVoid = errors.New("the call was given up before it was sent")

// send makes a call one that is sent; with sync a loss of power does not undo it. The file that
// it gives is locked until it is closed, which ends the call.
func (s spool) send(id string) (io.Closer, error) {
	f, err := os.OpenFile(s.path(id, ready), os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errVoid
	}
	if err != nil {
		return nil, err
	}
	if err := lock(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if err := os.Rename(s.path(id, ready), s.path(id, sent)); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = errVoid
		}
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// fate tells how a call stands. One that was not sent will not be any more.
func (s spool) fate(id string) journal.Fate {
	if s.answered(id) {
		return journal.FateAnswered
	}
	if s.giveUp(id) {
		return journal.FateUnsent
	}
	f, err := os.OpenFile(s.path(id, sent), os.O_RDWR, 0)
	if err != nil {
		return journal.FateUnknown
	}
	locked := unlocked(f)
	_ = f.Close()
	switch {
	case locked != nil:
		return journal.FateUnderWay
	case s.answered(id): // meanwhile
		return journal.FateAnswered
	}
	return journal.FateUnknown
}

// giveUp reports whether a call was not sent, and never will be, unless it is prepared anew.
func (s spool) giveUp(id string) bool {
	return os.Rename(s.path(id, ready), s.path(id, void)) == nil || s.has(id, void)
}

func (s spool) answered(id string) bool { return s.has(id, head) }

func (s spool) has(id, state string) bool {
	_, err := os.Stat(s.path(id, state))
	return err == nil
}

// end notes how a call ended; what is left of its body stands already.
func (s spool) end(id string, a answer) error {
	b, err := json.Marshal(a)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(s.folder, "."+id+"-*")
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), s.path(id, head))
	}
	if err != nil {
		_ = os.Remove(f.Name()) // it is of no use
	}
	return err
}

// open gives a kept answer and its body, which the caller closes.
func (s spool) open(id string) (answer, *os.File, error) {
	b, err := os.ReadFile(s.path(id, head))
	if err != nil {
		return answer{}, nil, err
	}
	a, err := parse(b)
	if err != nil || a.Failed != "" {
		return a, nil, err
	}
	f, err := os.Open(s.path(id, body))
	if err != nil {
		return a, nil, err
	}
	if info, err := f.Stat(); err != nil || info.Size() != a.Size {
		return a, nil, errors.Join(errDamaged, err, f.Close())
	}
	return a, f, nil
}

// remove releases a call. Its head goes last, so that one that is half removed is no
// call that was lost.
func (s spool) remove(id string) {
	for _, state := range []string{ready, void, sent, body, head} {
		_ = os.Remove(s.path(id, state)) // what stays is swept
	}
}

// tidy is for a call that has ended: where it was let go of meanwhile, nothing stays.
func (s spool) tidy(id string) {
	if !s.has(id, sent) {
		s.remove(id)
	}
}

// sweep removes what nobody asked for in a long time.
func (s spool) sweep(now time.Time) {
	all, err := os.ReadDir(s.folder)
	if err != nil {
		return
	}
	for _, entry := range all {
		if at, err := entry.Info(); err == nil && !entry.IsDir() && now.Sub(at.ModTime()) > keptFor {
			_ = os.Remove(filepath.Join(s.folder, entry.Name())) // the next one tries again
		}
	}
}
