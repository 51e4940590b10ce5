package offline

import (
	"image"
	"io"

	"atelier/imaging"
)

// label is the provenance mark of pictures of this driver's making.
func label(note string) imaging.Label {
	return imaging.Label{SourceType: imaging.SourceAlgorithmic, Software: "atelier-offline", Description: "Picture " + note + "."}
}

// encode writes the picture in the job's format, png, jpeg or webp, with its provenance label.
func encode(w io.Writer, img image.Image, j job) error {
	switch j.format {
	case "jpeg":
		return imaging.EncodeJPEG(w, img, j.quality, j.painter.label)
	case "webp":
		return imaging.EncodeWebP(w, img, j.quality, j.painter.label)
	}
	return imaging.EncodePNG(w, img, j.painter.label)
}
