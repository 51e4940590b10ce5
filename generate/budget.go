package generate

import "context"

// Charge is what one billable act may use, or did use: an operation, or a call of a
// chat model.
type Charge struct {
	// ID is the act's, the same in every process that works on it. An operation's is its own;
	// that of a model that stands in for another begins with it and continues a slash.
	ID string
	// Images are the pictures that it makes.
	Images int64
	// Tokens are those of a chat model, in and out; operations have none.
	Tokens int64
	// USD is money in US dollars as exact decimal text; nil means unknown, "0" free.
	USD *string
}

// Budget bounds what acts may use. Implementations are safe for concurrent use.
type Budget interface {
	// Reserve holds what an act is estimated to use against every budget of the scope and
	// the [Allowance] of ctx (its run, its day, its owner), all or none. The error has code
	// media.CodeOverBudget and names the budget and what is left of it. Money that is
	// unknown reserves nothing, and passes as long as something is left. Reserving again
	// for the same act changes nothing.
	Reserve(ctx context.Context, c Charge) error
	// Room reports whether an act would pass now, and holds nothing. bounded is false where no
	// budget counts what it uses; money that is unknown is counted, money of "0" is not. The
	// error is that of Reserve.
	Room(ctx context.Context, c Charge) (bounded bool, err error)
	// Settle gives the reservation back and counts what the act used. It is called when
	// the act is over, in a later process perhaps, and once more if a process dies before
	// it saved the end: the second time changes nothing. An error leaves the reservation; the
	// operation then stays open, so that the process that continues it settles it.
	Settle(ctx context.Context, c Charge) error
}
