package fantasy

import (
	"context"
	"errors"
	"net/url"

	"atelier/chat"
	"atelier/media"
)

// failure turns what the SDK says of a call that had no answer, or one that it cannot read,
// into our one error vocabulary; what an answer says of itself is read before, see [reading].
// The SDK's error value itself is dropped: it keeps whole request and response bodies. sent
// reports whether the request left this machine.
func (m *model) failure(ctx context.Context, err error, sent bool) error {
	var own *media.Error
	if errors.As(err, &own) {
		return own
	}
	return m.unanswered(ctx, err, sent)
}

// unanswered is the error of a call that no whole answer came to. Only one that
// never left this machine can be repeated without being paid twice.
func (m *model) unanswered(ctx context.Context, err error, sent bool) error {
	billed := ""
	var unsettled error
	if sent {
		billed, unsettled = "; it may have been billed, so it is not repeated", chat.ErrUnsettled
	}
	for _, ended := range []error{context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, ended) || errors.Is(ctx.Err(), ended) {
			e := media.Errorf(media.CodeOf(ended), "ask %s: the call ended before the response arrived: %s%s", m.profile, ended, billed)
			e.Cause = errors.Join(ended, unsettled)
			return e
		}
	}
	why := err.Error()
	u, network := errors.AsType[*url.Error](err)
	if network {
		why = u.Err.Error()
	}
	why = m.secrets.Clean(why, chat.MaxMessage)
	switch {
	case !sent && !network:
		return media.Errorf(media.CodeInvalid, "ask %s: %s", m.profile, why)
	case !sent:
		return media.Errorf(media.CodeUnavailable, "cannot reach %s (%s): check the network and %s", m.profile, why, m.provider.BaseVariable)
	}
	e := media.Errorf(media.CodeBadResponse, "ask %s: the response is incomplete (%s)%s", m.profile, why, billed)
	e.Cause = unsettled
	return e
}
