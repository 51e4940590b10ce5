// Command simulator serves OpenAI's images endpoint on loopback with pictures of
// 2 MB, and prints its address. One process serves all subjects.
package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"time"

	"atelier/generate/generatetest/openaisim"
)

func main() {
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Fprintf(os.Stdout, "http://%s\n", l.Addr())
	s := &http.Server{Handler: openaisim.New(openaisim.Config{PictureBytes: 2 << 20}), ReadHeaderTimeout: time.Minute}
	log.Fatal(s.Serve(l))
}
