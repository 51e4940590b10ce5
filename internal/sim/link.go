package sim

import (
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Link is a result that is fetched from a link.
type Link struct {
	Picture Picture
	// DeclaredMIME is the type declared by a download with [FaultLyingType]; others declare the picture's own type.
	DeclaredMIME string
	// Life is the lifetime of the link; 0 means unlimited.
	Life time.Duration
	// Fault affects the download if it concerns links or types.
	Fault Injection
	// Records reports whether downloads are recorded as sent.
	Records bool

	expires time.Time // zero means never
	half    bool      // the next download ends in the middle
}

// Shelf serves results by link. It is safe for concurrent use.
type Shelf struct {
	now  func() time.Time
	sent func(Picture)

	mu    sync.Mutex // guards links
	links map[string]*Link
}

// Put stores a link under a name, which must be unique.
func (s *Shelf) Put(name string, l Link) {
	if l.Life > 0 {
		l.expires = s.now().Add(l.Life)
	}
	switch l.Fault.Fault {
	case FaultHalfLink:
		l.half = true
	case FaultExpiredLink:
		l.expires = s.now()
	case FaultNotMedia:
		if l.Fault.Variant%2 == 1 {
			l.Picture = Raw("text/html; charset=utf-8", []byte(Page))
		}
	default:
	}
	if l.Fault.Fault != FaultLyingType {
		l.DeclaredMIME = l.Picture.MIMEType
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.links == nil {
		s.links = map[string]*Link{}
	}
	s.links[name] = &l
}

// Serve answers a download. It returns false, and writes nothing, if the link is unknown or has expired.
func (s *Shelf) Serve(w http.ResponseWriter, name string) bool {
	s.mu.Lock()
	l, ok := s.links[name]
	if !ok || !l.expires.IsZero() && !s.now().Before(l.expires) {
		s.mu.Unlock()
		return false
	}
	half := l.half
	l.half = false
	s.mu.Unlock()
	all := l.Picture.Bytes()
	if half {
		Half(w, l.DeclaredMIME, all)
	}
	if l.Records {
		s.sent(l.Picture)
	}
	w.Header().Set("Content-Type", l.DeclaredMIME)
	w.Header().Set("Content-Length", strconv.Itoa(len(all)))
	_, _ = w.Write(all)
	return true
}

// Picture makes a picture in the format, or what the fault replaces it with.
func (p *Painter) Picture(format string, width, height int, seed uint64, fault Injection) Picture {
	switch fault.Fault {
	case FaultTinyImage:
		return Tiny(seed)
	case FaultHugeHeader:
		return HugeHeader()
	case FaultNotMedia:
		return NotMedia("image/" + format)
	case FaultLyingType: // a different format than its link declares
		if format == "png" {
			return p.Paint("jpeg", width, height, seed)
		}
		return p.Paint("png", width, height, seed)
	default:
		return p.Paint(format, width, height, seed)
	}
}

// PrivateURL returns an address that must not be fetched.
func PrivateURL(f Injection) string {
	return []string{"http://169.254.169.254/latest/meta-data/picture.png", "http://10.0.0.1/picture.png"}[f.Variant%2]
}
