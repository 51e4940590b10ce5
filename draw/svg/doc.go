// Package svg holds what every drawing shares: a canvas that writes escaped elements with rounded coordinates, the
// two colour themes, text measuring and wrapping, and the page with title, subtitle and source around a drawing.
//
// A page is one self-contained file without script or outside resources; it carries its own background, switches
// colours by prefers-color-scheme and tells its content in a title and a description. The same input gives the same
// bytes. Errors are media.Error values with code media.CodeInvalid. It may import media.
package svg
