package generate

import (
	"sync"

	"atelier/media"
)

// here are the operations that this gateway works on. The right to work on one belongs to
// the gateway as a whole, so nothing else keeps two of its callers apart.
type here struct {
	mu  sync.Mutex // guards ids
	ids map[string]bool
}

// enter begins work on an operation; the error has code media.CodeConflict while somebody
// else of this gateway does it.
func (h *here) enter(id string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ids[id] {
		return media.Errorf(media.CodeConflict, "operation %s is under way in this process: wait for it", id)
	}
	if h.ids == nil {
		h.ids = map[string]bool{}
	}
	h.ids[id] = true
	return nil
}

func (h *here) leave(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.ids, id)
}

func (h *here) has(id string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.ids[id]
}
