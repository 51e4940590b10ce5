// Package offline is the driver that needs no key and no network: it draws pictures by rule from the words of the
// prompt. Words choose things, composition, light, palette and finish; the seed chooses everything else, so that
// equal requests give equal bytes.
//
// It is honest about what it is: metadata says "drawn by rule, not by an AI model", files carry the algorithmicMedia
// provenance label rather than the one of generative models, and the words that a picture does not show are listed.
// vocabulary.txt has the words that it knows, in English and German; [Painter] tells beforehand which words of a
// prompt it does not know.
//
// A picture is painted back to front: sky, distance, ground, things, foreground, weather. Single things are drawings
// in sprites.txt, placed by distance; colours are mixed in OKLab and composed in linear light, shapes are antialiased
// by exact area coverage, and a last pass adds tone, vignette and grain.
//
// Edits and variations work by rule too: words for light and colour adjust the
// picture, single things are drawn into it, and with a mask nothing outside the marked
// area changes by a bit. What a model made keeps its mark when it is edited here.
//
// It also speaks, in a way: a formant voice hums letter by letter what a text sounds like, so that everything about
// sounds can be tried without a key. The metadata and the file say that no words can be understood.
//
// Errors are media.Error values. The package may import media, generate and imaging.
package offline
