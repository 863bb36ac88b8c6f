package apiserver_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver"
)

func TestTheSignInThatWasBegunLastCompletes(t *testing.T) {
	t.Parallel()
	settings, as, own := ownIssuer(t, "lara")
	s := start(t, settings.use(t), as)
	for what, before := range map[string]func(b *browser){
		"a callback without parameters": func(b *browser) { b.finish("/auth/callback") },
		"a callback with a made-up state": func(b *browser) {
			b.finish("/auth/callback?state=x&code=y")
		},
		"an error with a made-up state": func(b *browser) { b.finish("/auth/callback?state=x&error=access_denied") },
	} {
		b := newBrowser(t, s)
		b.issuer = own
		callback := b.begin("lara", "/")
		before(b)
		if location := b.finish(callback); location != "/" {
			t.Errorf("after %s the sign-in ends at %s", what, location)
		}
	}
	for _, order := range [][]int{{0, 1}, {1}, {0, 0, 1}} {
		b := newBrowser(t, s)
		b.issuer = own
		callbacks := []string{b.begin("lara", "/ui/first"), b.begin("lara", "/ui/last")}
		location := ""
		for _, tab := range order {
			location = b.finish(callbacks[tab])
		}
		if location != "/ui/last" {
			t.Errorf("with two tabs, finished in the order %v, the last one ends at %s", order, location)
		}
	}
}

func TestOthersOfAnAddressDoNotLockOutWhoSignsIn(t *testing.T) {
	t.Parallel()
	settings, as, own := ownIssuer(t, "uma")
	s := start(t, settings.use(t), as, func(o *apiserver.Options) { o.SignInBurst = 3 })
	attacker, victim := newBrowser(t, s), newBrowser(t, s)
	attacker.issuer, victim.issuer = own, own
	// Without the cookie, a callback causes no request to the issuer.
	for range 20 {
		attacker.finish("/auth/callback?state=x&code=y")
	}
	victim.signsIn("uma", "/")
	// With the cookie, each causes one.
	began, tries := time.Now(), 20
	for range tries {
		state := queryOf(attacker.want(http.StatusSeeOther, "GET", "/auth/login", "").header.Get("Location"), "state")
		attacker.ends("/?signIn=refused", "/auth/callback?code=y&state="+state)
	}
	// Three requests at once, ten more from all addresses, and then ten per second.
	if took := time.Since(began); took < 500*time.Millisecond {
		t.Errorf("%d attempts took %s", tries, took)
	}
	victim.jar = map[string]string{}
	victim.signsIn("uma", "/")
}

func TestBrowsersKeepTheCookieOfASignIn(t *testing.T) {
	t.Parallel()
	settings, as, own := ownIssuer(t, "lena")
	b := newBrowser(t, start(t, settings.use(t), as))
	b.issuer = own
	for _, size := range []int{0, 100, 1000, 2000, 3000, 4000, 8000} {
		b.begin("lena", "/?q="+strings.Repeat("%22", size/3))
		for name, value := range b.jar {
			if len(name)+len(value) > 4000 {
				t.Errorf("with a path of %d bytes the cookie %s has %d", size, name, len(value))
			}
		}
	}
}
