package driver

import "atelier/generate"

// Reviewed is a [Driver] that looks at a whole task while it is planned, because
// what it can do depends on the settings together: pictures are mixed in some shapes only.
type Reviewed interface {
	Driver
	// Review tells what becomes of settings that the model takes, but not in this task:
	// each disposition stands in the place of the one for the same setting, and those
	// for settings that nobody asked for are passed over. One for "n" names how many results
	// a call gives, where that is not what the catalogue says. A prompt has a disposition only
	// if one is here: it is sent otherwise. It makes no call. Its error
	// refuses the task before anything is journalled: media.CodeInvalid for options that
	// make no sense, media.CodeUnsupported for what the provider cannot do.
	Review(t Task) ([]generate.Disposition, error)
}
