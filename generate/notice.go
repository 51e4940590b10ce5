package generate

import (
	"context"
	"sync"
	"time"
)

// noticeTime is the most that a notification waits for what it begins; providers wait about as long.
const noticeTime = 30 * time.Second

// listening gives the context of work that a notification begins: a provider that hangs up, or
// would have to wait too long, cancels nothing, the work is left.
func listening(ctx context.Context) (context.Context, context.CancelFunc) {
	work, end := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { end(ErrLeft) })
	late := time.AfterFunc(noticeTime, func() { end(ErrLeft) })
	return work, func() {
		stop()
		late.Stop()
		end(nil)
	}
}

// notices lets notifications find the operations that wait for them.
type notices struct {
	mu    sync.Mutex // guards tasks
	tasks map[string]*waiting
}

// waiting is a task that somebody polls.
type waiting struct {
	bell chan struct{} // holds one ring
	mu   sync.Mutex    // guards news
	news *Update
}

// wait enters a task.
func (n *notices) wait(provider, id string) *waiting {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.tasks == nil {
		n.tasks = map[string]*waiting{}
	}
	w := &waiting{bell: make(chan struct{}, 1)}
	n.tasks[provider+" "+id] = w
	return w
}

// leave takes a task out.
func (n *notices) leave(provider, id string, w *waiting) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.tasks[provider+" "+id] == w {
		delete(n.tasks, provider+" "+id)
	}
}

// ring tells whoever waits for the task; false if nobody does.
func (n *notices) ring(provider string, u Update) bool {
	n.mu.Lock()
	w, ok := n.tasks[provider+" "+u.Task.ID]
	n.mu.Unlock()
	if !ok {
		return false
	}
	w.tell(u)
	return true
}

// tell leaves the news. An end that was told is not taken back by an older message
// that comes late.
func (w *waiting) tell(u Update) {
	w.mu.Lock()
	if w.news == nil || !w.news.Done {
		w.news = &u
	}
	w.mu.Unlock()
	select {
	case w.bell <- struct{}{}:
	default:
	}
}

// pending reports whether there is news.
func (w *waiting) pending() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.news != nil
}

// take gives the news once.
func (w *waiting) take() *Update {
	w.mu.Lock()
	defer w.mu.Unlock()
	u := w.news
	w.news = nil
	return u
}
