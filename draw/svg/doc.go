// Package svg contains what all drawings share: a canvas that writes escaped elements with rounded coordinates, the two
// colour themes, text measuring and wrapping, and the page with title, subtitle and source around a drawing.
//
// A page is one self-contained file without script or outside resources. It has its own background, switches colours by
// prefers-color-scheme, and describes its content in a title and a description. The same input returns the same bytes.
// Errors are media.Error values with code media.CodeInvalid. The package may import media and draw/internal/value.
package svg
