package simulate

import (
	"net/http"
	"strconv"
	"sync"
	"time"

	"atelier/generate/generatetest"
)

// Link is one result that is fetched by link.
type Link struct {
	Picture Picture
	// DeclaredMIME is what the download declares; empty is the picture's own type.
	DeclaredMIME string
	// Expires is when the link dies; zero is never.
	Expires time.Time
	// Half says that the first download ends in the middle.
	Half bool
}

// Shelf serves results by link. It is safe for concurrent use; the zero value is
// empty and ready.
type Shelf struct {
	mu    sync.Mutex // guards links
	links map[string]*Link
}

// Put keeps a link under a name; a name is used once.
func (s *Shelf) Put(name string, l Link) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.links == nil {
		s.links = map[string]*Link{}
	}
	s.links[name] = &l
}

// Serve answers a download of name at a time. It reports false, and writes nothing,
// for a link that is not there or has expired.
func (s *Shelf) Serve(w http.ResponseWriter, name string, now time.Time) bool {
	s.mu.Lock()
	l, ok := s.links[name]
	if !ok || !l.Expires.IsZero() && !now.Before(l.Expires) {
		s.mu.Unlock()
		return false
	}
	half := l.Half
	l.Half = false
	s.mu.Unlock()
	kind := l.DeclaredMIME
	if kind == "" {
		kind = l.Picture.MIMEType
	}
	all := l.Picture.Bytes()
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(all)))
	if half {
		_, _ = w.Write(all[:len(all)/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	_, _ = w.Write(all)
	return true
}

// Picture makes a picture of the format, or what the fault puts in its place.
func (p *Painter) Picture(format string, width, height int, seed uint64, fault generatetest.Injection) Picture {
	switch fault.Fault {
	case generatetest.FaultTinyImage:
		return Tiny(seed)
	case generatetest.FaultHugeHeader:
		return HugeHeader()
	case generatetest.FaultNotMedia:
		if fault.Variant%2 == 1 {
			return Raw("text/html; charset=utf-8", []byte(Page))
		}
		return NotMedia("image/" + format)
	case generatetest.FaultLyingType: // is another format than its link declares
		if format == "png" {
			return p.Paint("jpeg", width, height, seed)
		}
		return p.Paint("png", width, height, seed)
	default:
		return p.Paint(format, width, height, seed)
	}
}

// LinkTo makes the link to a picture of the format, with the fault that concerns it.
// It dies after life; 0 is never.
func LinkTo(p Picture, format string, now time.Time, life time.Duration, fault generatetest.Injection) Link {
	l := Link{Picture: p, Half: fault.Fault == generatetest.FaultHalfLink}
	if life > 0 {
		l.Expires = now.Add(life)
	}
	switch fault.Fault {
	case generatetest.FaultExpiredLink:
		l.Expires = now
	case generatetest.FaultLyingType:
		l.DeclaredMIME = "image/" + format
	default:
	}
	return l
}

// PrivateURLs are addresses that nobody may fetch.
func PrivateURLs() []string {
	return []string{"http://10.0.0.1/picture.png", "http://169.254.169.254/latest/meta-data/"}
}
