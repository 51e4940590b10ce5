package bedrock

import (
	"context"
	"io"

	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"atelier/media"
	"atelier/media/wire"
)

// lower puts the bytes of pictures into a request at the end of Serialize: the payload
// hash and the signature that come later then cover what is sent.
func lower(codec *wire.Codec) func(*middleware.Stack) error {
	return func(stack *middleware.Stack) error {
		return stack.Serialize.Add(middleware.SerializeMiddlewareFunc("AtelierLower",
			func(ctx context.Context, in middleware.SerializeInput, next middleware.SerializeHandler) (middleware.SerializeOutput, middleware.Metadata, error) {
				req, ok := in.Request.(*smithyhttp.Request)
				if !ok || req.GetStream() == nil {
					return next.HandleSerialize(ctx, in)
				}
				body, err := io.ReadAll(req.GetStream()) // markers only: the text of the messages
				if err != nil {
					return middleware.SerializeOutput{}, middleware.Metadata{}, err
				}
				plan, err := codec.Lower(ctx, media.ScopeOf(ctx).Tree, body)
				if err != nil {
					return middleware.SerializeOutput{}, middleware.Metadata{}, err
				}
				if req, err = req.SetStream(plan.Open()); err != nil {
					return middleware.SerializeOutput{}, middleware.Metadata{}, err
				}
				req.ContentLength = plan.Size()
				in.Request = req
				return next.HandleSerialize(ctx, in)
			}), middleware.After)
	}
}
