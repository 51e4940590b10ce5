package api

import (
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"atelier/media"
)

// register registers the login, which exchanges a token for a cookie.
func (a *access) register(rt *routes) {
	rt.mux.HandleFunc("GET /login", func(w http.ResponseWriter, r *http.Request) {
		p := loginPage{Next: localPath(r.URL.Query().Get("next")), Name: IdentityOf(r.Context()).Name}
		if _, missing := r.Cookie(cookieName); missing == nil {
			if _, err := a.identify(r); err != nil { // why a page led here
				p.Error = media.ErrorText(err.Error())
			}
		}
		writeLogin(w, http.StatusOK, p)
	})
	rt.mux.HandleFunc("POST /login", a.signIn)
	rt.mux.HandleFunc("POST /logout", func(w http.ResponseWriter, r *http.Request) {
		c := a.cookie(r, "") //nolint:gosec // cookie sets its flags
		c.MaxAge = -1
		http.SetCookie(w, c)
		http.Redirect(w, r, "/login", http.StatusSeeOther)
	})
}

const (
	// maxForm is the maximum size of a login form, in bytes.
	maxForm = 8 << 10
	// cookieLasts is how long a browser keeps the cookie, in seconds. The token may expire earlier.
	cookieLasts = 30 * 24 * 60 * 60
)

// signIn accepts the token of a login form. Later requests of the page send the cookie instead.
func (a *access) signIn(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		writeProblem(w, r, media.Errorf(media.CodeInvalid, "the form cannot be read"))
		return
	}
	secret := strings.TrimSpace(r.PostForm.Get("token")) // only from the body: many systems log URLs
	next := localPath(r.PostForm.Get("next"))
	if _, err := a.tokens.Identify(r.Context(), secret); err != nil {
		if media.CodeOf(err) != media.CodeUnauthorized {
			writeProblem(w, r, err)
			return
		}
		writeLogin(w, http.StatusUnauthorized, loginPage{Next: next, Error: media.ErrorText(err.Error())})
		return
	}
	http.SetCookie(w, a.cookie(r, secret))
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, next, http.StatusSeeOther) //nolint:gosec // localPath permits only paths of this server
}

// cookie returns a cookie with a token. No script can read the cookie, and no page of another site can send it.
func (a *access) cookie(r *http.Request, secret string) *http.Cookie {
	//nolint:gosec // Secure is set behind TLS; on a plain connection the browser would drop the cookie
	return &http.Cookie{Name: cookieName, Value: secret, Path: "/", MaxAge: cookieLasts, HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: a.scheme(r) == "https"}
}

// scheme returns the URL scheme by which a browser reaches the server.
func (a *access) scheme(r *http.Request) string {
	if u, err := url.Parse(a.publicURL); r.TLS != nil || err == nil && u.Scheme == "https" && strings.EqualFold(u.Host, r.Host) {
		return "https"
	}
	return "http"
}

// localPath returns next if it is a path of this server, and / otherwise.
func localPath(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.Scheme != "" || u.Host != "" || !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.Contains(next, `\`) {
		return "/"
	}
	return next
}

// toLogin redirects a page to the login. A link from another site arrives without the cookie, which is SameSite=Strict.
// In this case, the page is loaded again from this site.
func (a *access) toLogin(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Sec-Fetch-Site") == "cross-site" {
		writeLogin(w, http.StatusOK, loginPage{Reload: localPath(r.URL.RequestURI())})
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, "/login?next="+url.QueryEscape(localPath(r.URL.RequestURI())), http.StatusSeeOther)
}

// loginPage holds the values of the login page.
type loginPage struct {
	Next, Error string
	// Name is the name of the token that is signed in.
	Name string
	// Reload is the path of a page to load again.
	Reload string
}

// loginPolicy permits only the page's own style, its icon and its form.
const loginPolicy = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

func writeLogin(w http.ResponseWriter, status int, p loginPage) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", loginPolicy)
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = loginHTML.Execute(w, p) // strings can always be written; the client may have disconnected
}

var loginHTML = template.Must(template.New("login").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
{{if .Reload}}<meta http-equiv="refresh" content="0;url={{.Reload}}">{{end}}<title>Sign in · Atelier</title><link rel="icon" href="/favicon.svg">
<style>
:root { color-scheme: light dark; --background: light-dark(#fdfcfa, #1a1917); --text: light-dark(#211f1b, #ece9e3); --muted: light-dark(#5d574d, #b5afa4); --accent: light-dark(#a8412a, #f0a088); --error: light-dark(#a3261f, #ff9d94) }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0; min-height: 100vh; display: grid; place-items: center; background: var(--background); color: var(--text) }
main { width: min(22rem, 90vw) }
.brand { display: flex; align-items: center; gap: .6rem; font-weight: 650 }
h1 { margin: .5rem 0 1rem }
a { color: var(--accent) }
label, input, button { display: block; width: 100%; box-sizing: border-box; font: inherit }
input, button { padding: .6rem .8rem; margin: .3rem 0 1rem; border: 1px solid var(--muted); border-radius: 8px; background: transparent; color: inherit }
button { border-color: transparent; background: #a8412a; color: #fff; font-weight: 600; cursor: pointer }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px }
#problem { color: var(--error) }
#problem::first-letter { text-transform: uppercase }
#how { color: var(--muted) }
code { overflow-wrap: anywhere }
</style></head><body><main>
<p class="brand"><img src="/favicon.svg" alt="" width="28" height="28">Atelier</p>
{{if .Reload}}<p><a href="{{.Reload}}">Continue</a></p>
{{else if .Name}}<h1>Signed in</h1><p>The access token is <code>{{.Name}}</code>.</p><p><a href="{{.Next}}">Open Atelier</a></p>
<form method="post" action="/logout"><button>Sign out</button></form>
{{else}}<h1>Sign in</h1>
{{if .Error}}<p id="problem" role="alert">{{.Error}}: enter another one.</p>{{end}}
<form method="post" action="/login"><label for="token">Access token</label>
<input id="token" name="token" type="password" autocomplete="current-password" required autofocus {{if .Error}}aria-invalid="true" {{end}}aria-describedby="{{if .Error}}problem {{end}}how">
<input type="hidden" name="next" value="{{.Next}}"><button>Sign in</button></form>
<p id="how">To create a token, run <code>atelier tokens create NAME</code> on the server.</p>{{end}}
</main></body></html>
`))
