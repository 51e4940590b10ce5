package bfl_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"atelier/media/wire/wiretest"

	"atelier/internal/sim"

	"atelier/generate/catalog"
	"atelier/generate/driver"
	"atelier/generate/generatetest"
	"atelier/generate/generatetest/bflsim"
	"atelier/generate/provider/bfl"
	"atelier/media"
)

// FuzzNotification: any signed notification becomes an update of a named task or an error; an unsigned one is refused.
func FuzzNotification(f *testing.F) {
	const secret, key = "hook-secret", "bfl_very-secret"
	service := bflsim.New(bflsim.Config{Key: key})
	d, err := bfl.New(bfl.Config{APIKey: key, Codec: wiretest.NewCodec(f), NotifySecret: secret, Base: &generatetest.Tape{Simulator: service}})
	if err != nil {
		f.Fatal(err)
	}
	for _, fault := range []sim.Fault{"", sim.FaultTaskFailed, sim.FaultModerated} {
		if fault != "" {
			service.Inject(sim.Injection{Fault: fault})
		}
		u, _ := d.Start(f.Context(), driver.Task{ // a refusal names no task
			Prompt: "x", N: 1, NotifyURL: "https://atelier.example/hooks", NotifySecret: secret, Model: catalog.Model{Provider: "bfl", APIModel: "flux-2-pro"},
		})
		for _, n := range service.Notifications(u.Task.ID) {
			signature := n.Header["X-Bfl-Signature"][0]
			f.Add(string(n.Body), signature)
			f.Add(string(n.Body), "sha256="+strings.ToUpper(strings.TrimPrefix(signature, "sha256="))) // the same signature
		}
	}
	for _, s := range []string{
		`{"id":"t","status":"Content Moderated","details":{"Moderation Reasons":["a",7,null]}}`, `{"id":7}`, `null`, `[]`,
		`{"id":"t","status":"Ready","result":{"sample":"","seed":1e99}}`, `{"id":"t","status":"Error","message":{},"error":["x"],"progress":-1e999}`,
	} {
		f.Add(s, "sha256=00")
	}
	f.Fuzz(func(t *testing.T, body, signature string) {
		mac := hmac.New(sha256.New, []byte(secret))
		_, _ = mac.Write([]byte(body)) // a hash never fails
		good := "sha256=" + hex.EncodeToString(mac.Sum(nil))
		hear := func(signature string) (driver.Update, error) {
			return d.Notification(t.Context(), driver.Notification{Header: map[string][]string{"X-Bfl-Signature": {signature}}, Body: []byte(body)})
		}
		u, err := hear(good)
		generatetest.Sane(t, u, err, "very-secret")
		if err == nil && (u.Task.ID == "" || u.Done != (len(u.Items) > 0)) {
			t.Errorf("%q is %+v", body, u)
		}
		if _, err := hear(signature); !strings.EqualFold(signature, good) && media.CodeOf(err) != media.CodeUnauthorized {
			t.Errorf("%q signed %q is believed: %v", body, signature, err)
		}
	})
}
