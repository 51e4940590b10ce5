// Package workflow implements media workflows with human interaction: definitions, which are modules in order;
// interactions, at which a run waits for a person; their answers; and the sub-actions that a person can start from an
// interaction. The package is pure: it starts nothing and stores nothing. The services that run workflows call it. Each
// sub-package covers one part: ordered (ordered JSON), template, conform (JSON Schema), schema (the vocabulary _ux),
// view (the tree that clients render), patch (versioned edits), subaction (from clicks to Gateway requests), module
// (the shipped modules).
//
// Errors are media errors. CodeInvalid with [problem.Problem] values has JSON pointers (HTTP 422). CodeNotFound means
// an undeclared action, CodeConflict an ambiguous action, CodeStaleData outdated source data (409), CodeVersion an edit
// that conflicts with a newer one (412), and CodeActionsRunning an answer while sub-actions are running (409).
package workflow
