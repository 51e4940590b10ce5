// Package offline is the driver that needs no key and no network: it draws
// pictures by rule from the words of the prompt. Words choose subject, composition,
// light, palette and finish; the seed chooses everything else, so that equal
// requests give equal bytes.
//
// It is honest about what it is: metadata says "drawn by rule, not by an AI model",
// and files carry the algorithmicMedia provenance label rather than the one of
// generative models.
//
// Edits and variations work by rule too: words for light and colour adjust the
// picture, other words are drawn into it, and with a mask nothing outside the marked
// area changes by a bit. What a model made keeps its mark when it is edited here.
//
// A picture is a scene made of layers, back to front: sky, terrain, water, motifs,
// foreground, weather. Each layer is a method of scene in a file of its own; colours
// are mixed in OKLab and composed in linear light, shapes are antialiased by exact
// area coverage, and a last pass adds tone, vignette and grain.
//
// It also speaks, in a way: a formant voice hums letter by letter what a text sounds
// like, so that everything about sounds can be tried without a key. The metadata and the
// file say that no words can be understood.
//
// Errors are media.Error values. The package may import media, generate and imaging.
package offline
