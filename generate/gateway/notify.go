package gateway

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/internal/fault"
	"atelier/generate/operation"
	"atelier/media"
)

// Notify handles a call of a provider's webhook. If the provider signs its calls, the content is trusted; otherwise the
// provider is polled. The operation ends once, by whichever answer comes first. Notify returns when the operation has
// received the call; the operation may still run. Errors: media.CodeNotFound for an unknown provider or task,
// media.CodeUnsupported for a provider without notifications, those of [driver.Notified], and media.CodeUnavailable if
// another process, which does not listen, works on the operation; the provider may then call again.
//
// An unknown task belongs to the call that the URL names: its answer was lost. If the provider signs, that call is
// continued, even if the operation has ended without it. Work that the call starts has its content instead of a first
// poll. Neither the end of ctx nor a timeout of 30 seconds cancels anything: unfinished work is left for
// [Gateway.Resume].
func (g *Gateway) Notify(ctx context.Context, provider string, n driver.Notification) error {
	d := g.Driver(provider)
	if d == nil {
		return media.Errorf(media.CodeNotFound, "there is no provider %q", fault.Quote(provider))
	}
	listener, ok := d.(driver.Notified)
	if !ok {
		return media.Errorf(media.CodeUnsupported, "%s sends no notifications", provider)
	}
	u, err := listener.Notification(ctx, n)
	if err != nil {
		return fault.Of(err)
	}
	if g.notices.deliver(provider, u.Clean()) {
		return nil
	}
	defer g.notices.forget(provider, u)
	if g.resumer == nil {
		return media.Errorf(media.CodeNotFound, "no operation waits for this task")
	}
	ctx, done := notifyContext(ctx)
	defer done()
	id, scope, err := g.resumer.OperationOfTask(ctx, provider, u.Task.ID)
	_, busy := g.busy.Load(id)
	switch {
	case media.CodeOf(err) == media.CodeNotFound:
		err = g.notifyLost(ctx, provider, n, u)
	case err != nil:
	case busy: // this process polls the task or has received its end
	default:
		ctx = media.WithScope(ctx, scope)
		_, err = g.resume(ctx, ctx, id, operation.EventResume, false)
	}
	if media.CodeOf(err) == media.CodeConflict {
		return media.Errorf(media.CodeUnavailable, "the operation belongs to another process: it polls")
	}
	return err
}

// callParameter is the query parameter of the notification URL that names the call. It identifies a task whose id was
// lost with the answer.
const callParameter = "call"

// notifyLost handles a message about an unknown task: that of a call whose answer was lost. Only signed messages are
// trusted. A cancelled operation stays cancelled. The error has code media.CodeNotFound if there is no such call, and
// media.CodeConflict while its operation is in progress, so that the answer may still come, or while the operation
// cannot end.
func (g *Gateway) notifyLost(ctx context.Context, provider string, n driver.Notification, u driver.Update) error {
	unknown := media.Errorf(media.CodeNotFound, "no operation waits for this task")
	key := strings.Join(n.Query[callParameter], "")
	cut := strings.LastIndexByte(key, '-')
	if !u.Done || cut < 0 {
		return unknown
	}
	id := key[:cut]
	scope, err := g.resumer.ScopeOf(ctx, id)
	if err != nil {
		return err
	}
	ctx = media.WithScope(ctx, scope)
	for range 3 { // the operation may have to end first, and another process may intervene
		saved, err := g.resumer.Saved(ctx, id)
		if err != nil {
			return err
		}
		_, lost := saved.CallWithoutTask(provider, key)
		known := slices.ContainsFunc(saved.Attempts, func(a operation.Attempt) bool { return a.Key == key && a.Task.ID == u.Task.ID })
		switch {
		case !lost && !known:
			return unknown
		case !lost && saved.Finished():
			return nil // another notification continued it
		case !lost:
			return unfinished(id)
		}
		named := false
		res, err := g.withClaim(ctx, id, operation.EventNotify, func(c *claim) (*generate.Result, error) {
			a, lost := c.CallWithoutTask(provider, key)
			switch named = lost && (c.Finished() || a.FinishedAt.IsZero()); {
			case named:
				a.Task = u.Task
				return c.workOnTask(ctx, operation.EventNotify, a)
			case c.Finished(): // another process continued it
				return c.releaseUnchanged(ctx)
			}
			return c.work(ctx, false) // the operation ends first
		})
		switch {
		case err != nil || named:
			return err
		case res.Status == generate.StatusRunning:
			return unfinished(id)
		}
	}
	return unfinished(id) // for instance because its end cannot be saved
}

// notifyTimeout is how long a notification waits at most for the work that it starts; providers wait about as long.
const notifyTimeout = 30 * time.Second

// notifyContext returns the context of work that a notification starts. If the provider hangs up or would have to wait
// too long, the work is handed over rather than cancelled.
func notifyContext(ctx context.Context) (context.Context, context.CancelFunc) {
	work, end := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { end(ErrHandedOver) })
	late := time.AfterFunc(notifyTimeout, func() { end(ErrHandedOver) })
	return work, func() {
		stop()
		late.Stop()
		end(nil)
	}
}

// notices connects notifications with the operations that wait for them.
type notices struct {
	mu    sync.Mutex // guards tasks and early, and is held while an update is sent
	tasks map[string]chan driver.Update
	early map[string]driver.Update // received for tasks without a poll; their polls are about to begin
}

// wait registers a task. The channel holds its newest update.
func (n *notices) wait(provider, id string) chan driver.Update {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.tasks == nil {
		n.tasks = map[string]chan driver.Update{}
	}
	news := make(chan driver.Update, 1)
	if u, ok := n.early[provider+" "+id]; ok {
		news <- u
	}
	n.tasks[provider+" "+id] = news
	return news
}

// forget drops an update for which no poll began.
func (n *notices) forget(provider string, u driver.Update) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.early, provider+" "+u.Task.ID)
}

func (n *notices) leave(provider, id string, news chan driver.Update) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.tasks[provider+" "+id] == news {
		delete(n.tasks, provider+" "+id)
	}
}

// deliver passes an update to the poll of its task, and reports whether the task is polled. If it is not, the update is
// the first of a poll that begins before [notices.forget]. An older message that arrives late does not replace the end
// of the task.
func (n *notices) deliver(provider string, u driver.Update) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	news, ok := n.tasks[provider+" "+u.Task.ID]
	if !ok {
		if n.early == nil {
			n.early = map[string]driver.Update{}
		}
		n.early[provider+" "+u.Task.ID] = u
		return false
	}
	select {
	case earlier := <-news:
		if earlier.Done {
			u = earlier
		}
	default:
	}
	news <- u
	return true
}
