// Package offline is the driver that needs no key and no network: it draws pictures by rule from the words of the
// prompt. Words determine things, composition, light, palette and finish; the seed determines everything else, so that
// equal requests return equal bytes.
//
// It discloses what it is: metadata says "drawn by rule, not by an AI model", files carry the algorithmicMedia
// provenance label rather than that of generative models, and words that a picture does not show are listed.
// vocabulary.txt has the words that it knows, in English and German; [Painter] reports in advance which words of a
// prompt it does not know.
//
// A picture is painted back to front: sky, distance, ground or water, things, foreground, weather. Single things are
// drawings in sprites.txt, placed by distance; colours are mixed in OKLab and composited in linear light. Edits adjust
// the pixels by the same table as the moods of a drawing, and draw single things into the picture. The voice hums a
// text letter by letter.
//
// Errors are media.Error values. The package may import media, generate and imaging.
package offline
