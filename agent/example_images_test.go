package agent_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"strings"
	"testing/fstest"

	"atelier/action"
	"atelier/agent"
	"atelier/agent/definition"
	"atelier/chat"
	"atelier/chat/offline"
	"atelier/media/blob"
	"atelier/media/blob/memblob"
	"atelier/media/wire"
)

// onlyModel chooses always the same chat model.
type onlyModel struct{ model chat.Model }

func (a onlyModel) Choose(context.Context, []string) (chat.Choice, error) {
	return chat.Choice{Model: a.model}, nil
}

// newLooker returns a runner whose agent has no actions and uses the offline model, which answers from pixels.
func newLooker() *agent.Runner {
	store, err := blob.New(blob.Config{Driver: memblob.New()})
	if err != nil {
		panic(err)
	}
	codec, err := wire.NewCodec(wire.Config{Blobs: store, Keys: []wire.Key{{ID: "k1", Secret: bytes.Repeat([]byte{1}, 32)}}})
	if err != nil {
		panic(err)
	}
	actions, err := action.NewRegistry(action.Config{Store: codec})
	if err != nil {
		panic(err)
	}
	definitions, err := definition.Load(fstest.MapFS{
		"looker.yaml": {Data: []byte("slug: looker\nname: Looker\ndescription: Looks at pictures.\n")},
		"looker.md":   {Data: []byte("You look at pictures.")},
	})
	if err != nil {
		panic(err)
	}
	runner, err := agent.NewRunner(agent.Config{
		Definitions: definitions, Actions: actions, Codec: codec, Models: onlyModel{offline.Model{Blobs: codec}},
	})
	if err != nil {
		panic(err)
	}
	return runner
}

// bluePNG returns a PNG of one colour.
func bluePNG() []byte {
	img := image.NewNRGBA(image.Rect(0, 0, 60, 40))
	draw.Draw(img, img.Bounds(), image.NewUniform(color.NRGBA{B: 200, A: 255}), image.Point{}, draw.Src)
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// A picture comes with the message: as bytes, a path, a media id, or a ref. It is stored first; the saved run names it
// and holds no bytes.
func ExampleRequest_images() {
	runner := newLooker()
	res, err := runner.Run(context.Background(), agent.Request{
		Agent: "looker", Message: "How large is it?",
		Images: []agent.Image{{Data: bluePNG(), MIMEType: "image/png", FileName: "sea.png", Detail: "low"}},
	})
	if err != nil {
		panic(err)
	}
	size, _, _ := strings.Cut(res.Message, ",")
	fmt.Println(size)
	fmt.Println(res.InputImages[0].Ref, res.InputImages[0].MIMEType, res.InputImages[0].FileName)
	// Output:
	// img-8yfjq1t7 (sea.png) is 60 × 40 pixels
	// img-8yfjq1t7 image/png sea.png
}
