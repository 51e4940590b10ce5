package media

import "strings"

// Modality is the kind of a media item, in lower case in every wire format.
type Modality string

// The modalities. Text that is too large for a prompt is passed as a document.
const (
	ModalityImage    Modality = "image"
	ModalityAudio    Modality = "audio"
	ModalityVideo    Modality = "video"
	ModalityDocument Modality = "document"
)

// ParseModality parses a modality, ignoring case. The error has code [CodeInvalid].
func ParseModality(s string) (Modality, error) {
	switch m := Modality(strings.ToLower(strings.TrimSpace(s))); m {
	case ModalityImage, ModalityAudio, ModalityVideo, ModalityDocument:
		return m, nil
	}
	return "", Errorf(CodeInvalid, "%q is not a modality: use image, audio, video or document", clip(s))
}

// ModalityOf returns the modality of a MIME type: image, audio or video by its top-level type, and
// document for all others.
func ModalityOf(mimeType string) Modality {
	top, _, _ := strings.Cut(strings.ToLower(mimeType), "/")
	switch m := Modality(top); m {
	case ModalityImage, ModalityAudio, ModalityVideo:
		return m
	default:
		return ModalityDocument
	}
}
