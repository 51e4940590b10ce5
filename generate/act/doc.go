// Package act reads what a task asks of a model that can do more than its methods say: which of the
// row's acts is meant, what it continues from, and which settings are written as flags behind the
// prompt. It is for the planner and for drivers of such models.
//
// Errors are media.Error values. It may import media, generate, generate/catalog and
// generate/driver.
package act
