// Package chart draws numbers as bars, lines, areas, sectors and points. The same input returns the same bytes.
//
// A chart is one self-contained SVG file without script or outside resources. It has its own background and switches
// colours by prefers-color-scheme, so that it is readable in light and dark wherever it is embedded as an image. Its
// title and description state the data in words.
//
// Errors are media.Error values with code media.CodeInvalid whose message names the parameter and the series. The
// package may import media and the other packages of draw.
package chart
