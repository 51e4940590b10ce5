// Package lease decides which process executes which work: a [Keeper] holds the leases of one process in the ledger's
// database, for runs and generations alike. It renews all of them with one statement every few seconds. Another
// process, on any machine, adopts work whose lease has expired. A process on the same machine adopts it as soon as the
// holder has died.
//
// A process that was suspended, or whose clock was changed, may believe that it still has a lease.
// So its clock decides nothing: every save that advances a run or a generation compares the lease
// in its own transaction, see [ledger.WithLease].
//
// Errors are media.Error values: conflict, which names the process that holds the work, and those
// of the ledger. It may import media and ledger.
package lease
