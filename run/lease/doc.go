// Package lease decides which process works on what: a [Keeper] holds the leases of one process in
// the ledger's database, for runs and generations alike. It renews all of them with one statement
// every few seconds. Work whose lease has expired is adopted by another process, on any machine; on
// the same machine, as soon as its process has died.
//
// A process that was suspended, or whose clock was changed, may believe that it still has a lease.
// So its clock decides nothing: every save that advances a run or a generation compares the lease
// in its own transaction, see [ledger.Under].
//
// Errors are media.Error values: conflict, which names the process that holds the work, and those
// of the ledger. It may import media and ledger.
package lease
