// Package workflow describes media workflows for people: definitions of modules in order, the
// interactions at which a run waits for a person, the answers, and what may be started from an
// interaction. It is pure: it holds no state, starts nothing and keeps nothing; what runs
// workflows calls it. Sub-packages know one part each: ordered (JSON in the author's order),
// template, conform (JSON Schema), schema (the vocabulary _ux), view (the tree that clients draw),
// patch (edits with versions), subaction (clicks that become requests of the Gateway), module (the
// shipped modules).
//
// Errors are media errors. CodeInvalid with [problem.Problem]s has JSON pointers (HTTP 422);
// CodeNotFound is an undeclared action, CodeConflict an ambiguous one, CodeStaleData other source
// data (409), CodeVersion an edit that a newer one contradicts (412), CodeActionsRunning an answer
// while sub-actions run (409).
package workflow
