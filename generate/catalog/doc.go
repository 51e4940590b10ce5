// Package catalog holds what models can do and cost, as data: their names, methods, sizes, settings,
// prices and life cycles, one YAML file for each provider. It loads and checks the rows, finds
// models by their names, and fits sizes and ratios to what a row takes. It makes no call.
//
// Errors are media.Error values, media.CodeInvalid for rows that make no sense. It may import
// media, generate and generate/money.
package catalog
