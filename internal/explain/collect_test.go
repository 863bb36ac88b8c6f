package explain

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/signing"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
)

const (
	proxyPath  = "/api/v1/namespaces/team-a/services/http:photos:http/proxy"
	secretPath = "/api/v1/namespaces/team-a/secrets/signing"
	signingKey = "the first key, 0123456789"
)

// kubernetesAPI responds to requests by their path, and with 403 to all others. It records the requests for images.
func kubernetesAPI(t *testing.T, answers map[string]http.HandlerFunc) (cluster Cluster, asked func() []*url.URL) {
	t.Helper()
	var mu sync.Mutex
	var images []*url.URL
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.Path
		if strings.HasPrefix(path, proxyPath) {
			mu.Lock()
			images = append(images, r.URL)
			mu.Unlock()
			path = proxyPath
		}
		if answer, found := answers[path]; found {
			answer(w, r)
			return
		}
		status(w, http.StatusForbidden, "Forbidden", "not allowed")
	}))
	t.Cleanup(server.Close)
	client := server.Client()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	clientset, err := kubernetes.NewForConfigAndClient(&rest.Config{Host: server.URL}, client)
	expect.NoError(t, err)
	return Cluster{API: clientset.CoreV1().RESTClient(), HTTP: client}, func() []*url.URL {
		mu.Lock()
		defer mu.Unlock()
		return images
	}
}

// status is a response of the Kubernetes API itself.
func status(w http.ResponseWriter, code int, reason, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(map[string]any{
		"kind": "Status", "apiVersion": "v1", "status": "Failure",
		"reason": reason, "code": code, "message": message,
	})
}

func evidence(t *testing.T, text string, gate bool) *Evidence {
	t.Helper()
	parsed, err := Parse(text)
	expect.NoError(t, err)
	darkroom := holder()
	if gate {
		darkroom.Spec(withGate).Spec(func(s *v1alpha1.DarkroomSpec) {
			s.Gate.Signing = &v1alpha1.GateSigning{SecretRef: v1alpha1.SigningSecretRef{Name: "signing"}}
		})
	}
	return &Evidence{URL: parsed, Claimants: []*v1alpha1.Darkroom{darkroom.Obj()}}
}

func TestTheImageIsRequestedWithoutCredentials(t *testing.T) {
	cluster, asked := kubernetesAPI(t, map[string]http.HandlerFunc{
		proxyPath: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "image/png; charset=x")
			w.Header().Set("Server-Timing", "cache;desc=hit, total;dur=1.5")
			fmt.Fprint(w, strings.Repeat("x", maxProblem+10))
		},
		"/apis/networking.k8s.io/v1/namespaces/team-a/ingresses/photos": func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"spec":{"rules":[{"host":"photos.example.com"}]}}`)
		},
		"/apis/gateway.networking.k8s.io/v1/namespaces/team-a/httproutes/photos": func(w http.ResponseWriter,
			_ *http.Request,
		) {
			status(w, http.StatusNotFound, "NotFound", "there is none")
		},
		"/apis/discovery.k8s.io/v1/namespaces/team-a/endpointslices": func(w http.ResponseWriter, r *http.Request) {
			if got := r.URL.Query().Get("labelSelector"); got != "kubernetes.io/service-name=photos" {
				t.Errorf("selector %q", got)
			}
			fmt.Fprint(w, `{"items":[{"endpoints":[{"conditions":{"ready":true}},{"conditions":{"ready":false}},{}]}]}`)
		},
	})
	e := evidence(t, "https://user:pass@photos.example.com/a%20cat.png?w=7&token=secret&s=secret&ixlib=1", false)
	cluster.Collect(t.Context(), e)
	if got := asked(); len(got) != 1 || got[0].Path != proxyPath+"/a cat.png" || got[0].RawQuery != "w=7" {
		t.Errorf("got the requests %v", got)
	}
	if e.Ingress.Access != Found || len(e.Ingress.Object.Spec.Rules) != 1 || e.HTTPRoute.Access != Missing ||
		e.Endpoints != (Read[Endpoints]{Found, Endpoints{2, 3}}) {
		t.Errorf("evidence is %+v", e)
	}
	a := e.Answer
	if a.Status != 200 || a.ContentType != "image/png" || a.Bytes != maxProblem+10 || a.Cache != "hit" ||
		len(a.Parts) != 1 || a.Took <= 0 {
		t.Errorf("the response is %+v", a)
	}
}

// TestAnswersOfKubernetesAreNotThoseOfTheDarkroom also covers the target of a redirect.
func TestAnswersOfKubernetesAreNotThoseOfTheDarkroom(t *testing.T) {
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   Answer
	}{
		"no right": {
			func(w http.ResponseWriter, _ *http.Request) { status(w, 403, "Forbidden", "no") },
			Answer{Failure: NoRight},
		},
		"no pods": {func(w http.ResponseWriter, _ *http.Request) {
			status(w, 503, "ServiceUnavailable", "no endpoints available")
		}, Answer{Failure: Unreachable}},
		"no Service": {
			func(w http.ResponseWriter, _ *http.Request) { status(w, 404, "NotFound", "none") },
			Answer{Failure: Unreachable},
		},
		"no way": {func(w http.ResponseWriter, _ *http.Request) {
			status(w, 503, "ServiceUnavailable", "error trying to reach service")
		}, Answer{Failure: Unreachable}},
		"too busy": {
			func(w http.ResponseWriter, _ *http.Request) { status(w, 429, "TooManyRequests", "wait") },
			Answer{Failure: NotSent},
		},
		"hung up": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, Answer{Failure: Unreachable}},
		"a redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
		}, Answer{Status: 302, ContentType: "text/html"}},
		"of Darkroom": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(403) }, Answer{Status: 403}},
		"of the gate": {
			gateProblem(404, "the source has no image"),
			Answer{Status: 404, ContentType: "application/problem+json", Detail: "the source has no image"},
		},
		"a long story": {
			gateProblem(404, strings.Repeat("é", maxDetail)),
			Answer{Status: 404, ContentType: "application/problem+json", Detail: strings.Repeat("é", maxDetail/2)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			cluster, _ := kubernetesAPI(t, map[string]http.HandlerFunc{proxyPath: c.answer})
			e := evidence(t, "https://photos.example.com/a.png", false)
			cluster.Collect(t.Context(), e)
			e.Answer.Took, e.Answer.Bytes = 0, 0
			expect.Equal(t, "answer", c.want, e.Answer)
		})
	}
}

// While the last change is not ready, the source is read from the pods, using the names that the cluster reports.
func TestTheSourceOfThePodsIsRead(t *testing.T) {
	const pod = `{"spec":{"containers":[{"envFrom":[{"secretRef":{"name":"own"}},{"configMapRef":{"name":%q}}]}]}}`
	for name, c := range map[string]struct {
		ready     bool
		config    string
		forbidden string
		want      Access
	}{
		"not ready":                           {config: "photos-1", want: Found},
		"ready":                               {config: "photos-1", ready: true},
		"a path instead of a name":            {config: "../secrets/keys", want: Missing},
		"without the right to get pods":       {config: "photos-1", forbidden: "pods"},
		"without the right to get ConfigMaps": {config: "photos-1", forbidden: "configmaps"},
	} {
		t.Run(name, func(t *testing.T) {
			send := func(body string) http.HandlerFunc {
				return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) }
			}
			answers := map[string]http.HandlerFunc{
				"/apis/discovery.k8s.io/v1/namespaces/team-a/endpointslices": send(`{"items":[{"endpoints":[` +
					`{"conditions":{"ready":false},"targetRef":{"kind":"Pod","name":"photos-new"}},` +
					`{"conditions":{"ready":true},"targetRef":{"kind":"Pod","name":"photos-old"}},` +
					`{"conditions":{"ready":true},"targetRef":{"kind":"Node","name":"node"}}]}]}`),
				"/api/v1/namespaces/team-a/pods/photos-old":     send(fmt.Sprintf(pod, c.config)),
				"/api/v1/namespaces/team-a/configmaps/photos-1": send(`{"data":{"SOURCE_KIND":"s3"}}`),
				"/api/v1/namespaces/team-a/secrets/keys":        send(`{"data":{"SOURCE_KIND":"s3"}}`),
			}
			for path := range answers {
				if c.forbidden != "" && strings.Contains(path, "/"+c.forbidden+"/") {
					delete(answers, path)
				}
			}
			cluster, _ := kubernetesAPI(t, answers)
			e := evidence(t, "https://photos.example.com/a.png", false)
			if !c.ready {
				e.Claimants[0].Generation++
			}
			cluster.Collect(t.Context(), e)
			if got := e.Variables; got.Access != c.want || (got.Object["SOURCE_KIND"] == "s3") != (c.want == Found) {
				t.Errorf("the variables are %+v, want access %d", got, c.want)
			}
		})
	}
}

func gateProblem(code int, detail string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(map[string]any{"detail": detail})
	}
}

// TestSignaturesAreVerifiedHere also checks that a valid signature is replaced by one that expires soon.
func TestSignaturesAreVerifiedHere(t *testing.T) {
	sign := func(key string, expires time.Time) string {
		u, _ := url.Parse("https://photos.example.com/a.png?w=7&v=2")
		return signing.Sign(key, *u, expires).String()
	}
	signDate := func(key string) string {
		u, _ := url.Parse("https://photos.example.com/a.png?expires=2099-01-01")
		return signing.Sign(key, *u, time.Time{}).String()
	}
	secret := func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).
			Encode(map[string]any{"data": map[string][]byte{"keys": []byte(signingKey + "\nthe second key, 0123456789")}})
	}
	for name, c := range map[string]struct {
		url    string
		secret http.HandlerFunc
		imgix  bool
		want   Signature
		asked  int
	}{
		"signed": {url: sign(signingKey, time.Time{}), secret: secret, want: SignatureAccepted, asked: 1},
		"by the second key": {
			url: sign("the second key, 0123456789", time.Now().Add(time.Hour)), secret: secret,
			want: SignatureAccepted, asked: 1,
		},
		"by another key":      {url: sign("another key, 0123456789", time.Time{}), secret: secret, want: SignatureInvalid},
		"not signed":          {url: "https://photos.example.com/a.png", secret: secret, want: SignatureMissing},
		"changed":             {url: sign(signingKey, time.Time{}) + "&h=9", secret: secret, want: SignatureInvalid},
		"expired":             {url: sign(signingKey, time.Unix(1, 0)), secret: secret, want: SignatureExpired},
		"without the key":     {url: sign(signingKey, time.Time{}), want: SignatureAccepted},
		"neither key nor 's'": {url: "https://photos.example.com/a.png", want: SignatureMissing},
		"with a date":         {url: signDate(signingKey), secret: secret, want: SignatureUntimely},
		"a date without the key": {
			url: signDate(signingKey), want: SignatureUntimely,
		},
		"signed twice": {url: sign(signingKey, time.Time{}) + "&s=1", secret: secret, want: SignatureInvalid},
		"by imgix":     {url: sign("another key, 0123456789", time.Time{}), secret: secret, imgix: true, asked: 1},
		"by imgix, expired": {
			url: sign("another key, 0123456789", time.Unix(1, 0)), secret: secret, imgix: true,
			want: SignatureExpired,
		},
		"by imgix, with a date": {url: signDate("another key, 0123456789"), secret: secret, imgix: true, want: SignatureUntimely},
		"by imgix, twice": {
			url: sign("another key, 0123456789", time.Time{}) + "&s=1", secret: secret, imgix: true,
			want: SignatureInvalid,
		},
	} {
		t.Run(name, func(t *testing.T) {
			answers := map[string]http.HandlerFunc{proxyPath: func(http.ResponseWriter, *http.Request) {}}
			if c.secret != nil {
				answers[secretPath] = c.secret
			}
			cluster, asked := kubernetesAPI(t, answers)
			e := evidence(t, c.url, true)
			if c.imgix {
				e.Claimants[0].Spec.Gate.Signing.Scheme = v1alpha1.SigningImgix
			}
			cluster.Collect(t.Context(), e)
			got := asked()
			if e.Signature != c.want || len(got) != c.asked {
				t.Fatalf("the signature is %s, got the requests %v", e.Signature, got)
			}
			if c.asked == 0 {
				return
			}
			given, _ := url.Parse(c.url)
			own := url.URL{Path: "/a.png", RawQuery: got[0].RawQuery}
			query := own.Query()
			if query.Get("s") == given.Query().Get("s") || query.Has("v") || query.Get("w") != "7" || !query.Has("expires") ||
				!signing.Verifies(signingKey, own) {
				t.Errorf("asked with %s", got[0].RawQuery)
			}
		})
	}
}
