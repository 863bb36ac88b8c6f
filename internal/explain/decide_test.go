package explain

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/property"
)

const host = "photos.example.com"

// holder returns a Darkroom that holds the host.
func holder() *darkrooms.Builder {
	return darkrooms.New("photos", "team-a").UID("1").Status(func(s *v1alpha1.DarkroomStatus) {
		s.Domains, s.BaseDomain, s.Phase = []string{host}, "example.com", v1alpha1.PhaseReady
	}).Condition(v1alpha1.Condition{
		Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonAllReplicasReady,
		Message: "2 of 2 pods are ready.", ObservedGeneration: 1,
	})
}

// refused returns a holder whose last change has not reached the pods.
func refused() *darkrooms.Builder {
	return holder().Condition(degraded(v1alpha1.ConditionReady, v1alpha1.ReasonImageNotFound, "GET /a.jpg?w=16: HTTP 404."))
}

// variables returns the variables of pods with a source.
func variables(of ...string) Read[map[string]string] {
	out := Read[map[string]string]{Found, map[string]string{}}
	for _, pair := range of {
		name, value, _ := strings.Cut(pair, "=")
		out.Object[name] = value
	}
	return out
}

func withGate(spec *v1alpha1.DarkroomSpec) { spec.Gate = &v1alpha1.Gate{} }

func withSources(spec *v1alpha1.DarkroomSpec) {
	spec.Gate = &v1alpha1.Gate{}
	spec.AdditionalSources = []v1alpha1.AdditionalSource{
		{Name: "products", Path: "/products", Source: v1alpha1.Source{Type: v1alpha1.GoogleCloudStorage, Bucket: "p"}},
		{Name: "old", Fallback: true, Source: v1alpha1.Source{BaseURL: "https://old.example.com"}},
	}
}

// routed returns an Ingress of the holder.
func routed(hosts ...string) Read[networkingv1.Ingress] {
	out := networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{
		OwnerReferences: []metav1.OwnerReference{{UID: "1", Controller: ptr.To(true)}},
	}}
	for _, host := range hosts {
		out.Spec.Rules = append(out.Spec.Rules, networkingv1.IngressRule{Host: host})
	}
	out.Status.LoadBalancer.Ingress = []networkingv1.IngressLoadBalancerIngress{{IP: "192.0.2.1"}}
	return Read[networkingv1.Ingress]{Found, out}
}

// unaddressed returns an Ingress without a controller.
func unaddressed(hosts ...string) Read[networkingv1.Ingress] {
	out := routed(hosts...)
	out.Object.Status = networkingv1.IngressStatus{}
	return out
}

func ready(count int) Read[Endpoints] { return Read[Endpoints]{Found, Endpoints{count, 2}} }

func degraded(conditionType, reason, message string) v1alpha1.Condition {
	return v1alpha1.Condition{
		Type: conditionType, Status: metav1.ConditionFalse, Reason: reason,
		Message: message, ObservedGeneration: 1,
	}
}

func served(status int, contentType string) Answer {
	return Answer{Status: status, ContentType: contentType, Bytes: 1000, Took: 40 * time.Millisecond}
}

// fromGate returns a gate's response to a failed request, with the parts of Server-Timing.
func fromGate(status int, detail string, parts ...string) Answer {
	out := served(status, "application/problem+json")
	out.Detail = detail
	out.Parts = map[string]float64{}
	for _, part := range parts {
		out.Cache, out.Parts[part] = "miss", 12
	}
	return out
}

func TestTheHopToBlameAndWhatHelps(t *testing.T) {
	image := served(200, "image/jpeg")
	for name, c := range map[string]struct {
		url      string
		evidence Evidence
		darkroom *darkrooms.Builder
		blame    Kind
		// verdict and remedy are substrings of the actual texts.
		verdict, remedy, field string
	}{
		"an unknown host": {
			url: "https://cdn.example.net/a.jpg", blame: Host,
			verdict: "no Darkroom that you may see", remedy: "Check the host",
		},
		"a host that no Darkroom claims": {
			evidence: Evidence{BaseDomains: []string{"example.com"}}, blame: Host,
			verdict: "below the base domain example.com", remedy: `add it to subDomains`,
		},
		"a host of a team's domain": {
			url:      "http://a.team.img.io/a.jpg",
			evidence: Evidence{BaseDomains: []string{"{namespace}.img.io"}}, blame: Host, remedy: `"a.team"`,
		},
		"a host that another has": {
			darkroom: darkrooms.New("photos", "team-a").
				Condition(degraded(v1alpha1.ConditionDomainsReady, v1alpha1.ReasonDomainConflict, "Host is already claimed.")),
			blame: Host, verdict: "team-a/photos claims the host but does not hold it: Host is already claimed",
			remedy: "subDomains", field: "subDomains",
		},
		"a host whose Lease names another Darkroom": {
			darkroom: holder(), blame: Host, field: "subDomains",
			evidence: Evidence{HolderKnown: true, Holder: types.NamespacedName{Namespace: "team-b", Name: "photos"}},
			verdict:  "team-a/photos claims the host, but another Darkroom holds it",
		},
		"a host without a Lease": {
			darkroom: holder(), blame: Host, evidence: Evidence{HolderKnown: true},
			verdict: "the operator has not handled this yet",
		},
		"a Darkroom without an operator": {
			darkroom: darkrooms.New("photos", "team-a"), blame: Host,
			remedy: "kubectl darkroom status photos -n team-a",
		},
		"a Darkroom that is deleted": {darkroom: holder().Deleting(metav1.Now()), blame: Host, verdict: "being deleted"},
		"an Ingress without the host": {
			darkroom: holder(), evidence: Evidence{Ingress: routed("other.example.com")},
			blame: Route, verdict: "no rule",
		},
		"an Ingress of a class that does not exist": {
			darkroom: holder().Generation(1).Condition(degraded(v1alpha1.ConditionDomainsReady,
				v1alpha1.ReasonIngressClassMissing, "IngressClass nope does not exist.")),
			evidence: Evidence{Ingress: routed(host)}, blame: Route,
			verdict: "IngressClass nope does not exist", remedy: "kubectl get ingressclasses", field: "ingress.className",
		},
		"an Ingress whose certificate does not exist": {
			darkroom: holder().Generation(1).Condition(degraded(v1alpha1.ConditionDomainsReady,
				v1alpha1.ReasonCertificateMissing, "Secret cert does not exist.")),
			evidence: Evidence{Ingress: routed(host)}, blame: Route,
			verdict: "Secret cert does not exist", remedy: "Create the Secret", field: "ingress.tlsSecretName",
		},
		"an Ingress with another owner": {
			darkroom: holder().UID("2"), evidence: Evidence{Ingress: routed(host)}, blame: Route,
			verdict: "does not exist",
		},
		"a Gateway without a route": {
			darkroom: holder().Gateway("public"),
			evidence: Evidence{HTTPRoute: Read[gatewayv1.HTTPRoute]{Access: Missing}}, blame: Route, field: "gateway",
		},
		"pods that are not ready": {
			darkroom: holder().Condition(degraded(v1alpha1.ConditionReady, v1alpha1.ReasonImagePullFailed,
				"A pod cannot pull its image.")),
			evidence: Evidence{Endpoints: ready(0), Answer: Answer{Failure: Unreachable}},
			blame:    Service, verdict: "0 of 2 endpoints are ready: A pod cannot pull its image", remedy: "image.pullSecrets",
		},
		"a Darkroom that is idle": {
			darkroom: holder().Status(func(s *v1alpha1.DarkroomStatus) { s.Phase = v1alpha1.PhaseIdle }),
			evidence: Evidence{Endpoints: ready(0)}, blame: Service, remedy: "Set replicas", field: "replicas",
		},
		"an image": {
			darkroom: holder(), evidence: Evidence{Answer: image},
			verdict: "team-a/photos serves this image", remedy: "DNS",
		},
		"an image of a gate": {
			darkroom: holder().Spec(withGate), evidence: Evidence{Answer: image},
			verdict: "serves this image",
		},
		"an Ingress of no controller": {
			darkroom: holder(), evidence: Evidence{Answer: image, Ingress: unaddressed(host)},
			verdict: "serves this image", remedy: "ingress.className",
		},
		"a default page of the Ingress": {
			darkroom: holder(),
			evidence: Evidence{Answer: image, Ingress: routed(host), Seen: 404}, blame: Route, verdict: "default page",
			remedy: "kubectl describe ingress/photos", field: "ingress.className",
		},
		"a failure that clients see": {
			darkroom: holder(),
			evidence: Evidence{Answer: served(404, ""), Seen: 404}, blame: Source,
		},
		"the metrics": {
			url: "https://photos.example.com/metrics", darkroom: holder(), blame: Darkroom,
			verdict: "not one of an image",
		},
		"no path": {url: "photos.example.com", darkroom: holder(), blame: Darkroom, remedy: "/cat.jpg"},
		"a path that climbs": {
			url:      "https://photos.example.com/a/%2e%2e/metrics",
			darkroom: holder().Spec(withGate), blame: Gate, verdict: "contains ..",
		},
		"a path outside of the prefix": {
			darkroom: holder().S3("b", "r").PathPrefix("/assets"), blame: Darkroom,
			remedy: "source.pathPrefix", field: "source.pathPrefix",
		},
		"an image of another source": {
			url:      "https://photos.example.com/products/a.jpg",
			darkroom: holder().S3("b", "r").PathPrefix("/assets").Spec(withSources),
			evidence: Evidence{Answer: fromGate(404, "additional source products: the source has no image at this path",
				"fetch")},
			blame: Source, verdict: "has no image", remedy: "products in spec.additionalSources",
			field: "additionalSources.0.bucket",
		},
		"a fallback that fails": {
			darkroom: holder().Spec(withSources),
			evidence: Evidence{Answer: fromGate(502, "additional source old: the source responded with status 500", "fetch")},
			blame:    Source, verdict: "status 500", remedy: "old in spec.additionalSources",
			field: "additionalSources.1.baseUrl",
		},
		"a missing image": {
			darkroom: holder(), evidence: Evidence{Answer: served(422, "text/plain")},
			blame: Source, verdict: "422", remedy: "source.baseUrl", field: "source.baseUrl",
		},
		"the error page of a source": {
			darkroom: holder(), evidence: Evidence{Answer: served(200, "text/html")},
			blame: Source, verdict: "text/html", remedy: "source.baseUrl", field: "source.baseUrl",
		},
		"a bucket that denies": {
			darkroom: holder().S3("b", "r"), evidence: Evidence{Answer: served(403, "")}, blame: Source,
			remedy: "s3:GetObject", field: "source.bucket",
		},
		"a redirect": {
			darkroom: holder().CloudFront("d.cloudfront.net"), evidence: Evidence{Answer: served(301, "")},
			blame: Source, remedy: "redirects", field: "source.host",
		},
		"404 of the source behind a gate": {
			darkroom: holder().Spec(withGate),
			evidence: Evidence{Answer: fromGate(404, "the source has no image at this path", "fetch")},
			blame:    Source, verdict: "the source has no image at this path", remedy: "source.baseUrl",
		},
		"403 of the source behind a gate that signs": {
			darkroom: holder().Spec(withGate).Spec(func(s *v1alpha1.DarkroomSpec) { s.Gate.Signing = &v1alpha1.GateSigning{} }),
			evidence: Evidence{Signature: SignatureAccepted, Answer: fromGate(403, "the source denies access", "fetch")},
			blame:    Source,
		},
		"a gate that does not have the key yet": {
			darkroom: holder().Spec(withGate).Spec(func(s *v1alpha1.DarkroomSpec) { s.Gate.Signing = &v1alpha1.GateSigning{} }),
			evidence: Evidence{Signature: SignatureAccepted, Answer: fromGate(403, "the signature of the URL is invalid")},
			blame:    Gate, field: "gate.signing",
		},
		"a URL without a signature": {
			darkroom: holder().Spec(withGate), evidence: Evidence{Signature: SignatureMissing},
			blame: Gate, verdict: "not signed", remedy: "kubectl darkroom sign",
		},
		"an invalid signature": {
			darkroom: holder().Spec(withGate), evidence: Evidence{Signature: SignatureInvalid},
			blame: Gate, verdict: "invalid", remedy: "gate.signing.secretRef",
		},
		"a URL that has expired": {
			darkroom: holder().Spec(withGate), evidence: Evidence{Signature: SignatureExpired},
			blame: Gate, verdict: "expired",
		},
		"a URL that expires at a date": {
			darkroom: holder().Spec(withGate), evidence: Evidence{Signature: SignatureUntimely},
			blame: Gate, verdict: "expires of the URL is not a time in seconds",
		},
		"a key that may not be read": {
			darkroom: holder().Spec(withGate),
			evidence: Evidence{Signature: SignatureAccepted, Answer: Answer{Failure: NoKeys}}, verdict: "may not read the key",
			remedy: "Secret of gate.signing",
		},
		"a parameter beyond a limit": {
			darkroom: holder().Spec(withGate),
			evidence: Evidence{Answer: fromGate(400, "parameter w must be an integer from 1 to 2000")}, blame: Gate,
			verdict: "parameter w", field: "gate",
		},
		"an original beyond a limit": {
			darkroom: holder().Spec(withGate),
			evidence: Evidence{Answer: fromGate(413, "the original exceeds 9 bytes", "fetch")},
			blame:    Gate, field: "gate.limits",
		},
		"no image behind a gate": {
			darkroom: holder().Spec(withGate),
			evidence: Evidence{Answer: fromGate(415, "not an image", "fetch")}, blame: Source, remedy: "JPEG, PNG or WebP",
		},
		"a source that fails": {
			darkroom: holder().Spec(withGate),
			evidence: Evidence{Answer: fromGate(502, "the source responded with status 500", "fetch")},
			blame:    Source, verdict: "status 500", remedy: "-c gate --tail=100",
		},
		"a source that is slow": {
			darkroom: holder().Spec(withGate),
			evidence: Evidence{Answer: fromGate(504, "the source did not respond in time", "fetch")},
			blame:    Source, remedy: "DNS",
		},
		"a source that leads back": {
			darkroom: holder().Spec(withGate),
			evidence: Evidence{Answer: fromGate(508, "the source leads back")}, blame: Source,
			remedy: "leads back", field: "source.baseUrl",
		},
		"a Darkroom that crashes": {
			darkroom: holder().Spec(withGate),
			evidence: Evidence{Answer: fromGate(503, "Darkroom is not available", "fetch", "transform")},
			blame:    Darkroom, remedy: "-c darkroom",
		},
		"a gate with too many requests": {
			darkroom: holder().Spec(withGate),
			evidence: Evidence{Answer: fromGate(503, "too many requests are waiting", "fetch")}, blame: Gate, field: "replicas",
		},
		"a gate that fails": {
			darkroom: holder().Spec(withGate),
			evidence: Evidence{Answer: fromGate(500, "internal error")}, blame: Gate, remedy: "-c gate",
		},
		"no response in time": {
			darkroom: holder(), evidence: Evidence{Answer: Answer{Failure: TimedOut}},
			blame: Source, remedy: "source is up",
		},
		"pods that cannot be reached": {
			darkroom: holder(), evidence: Evidence{Answer: Answer{Failure: Unreachable}},
			blame: Darkroom, remedy: "kubectl logs -n team-a -l app.kubernetes.io/name=darkroom,app.kubernetes.io/instance=photos",
		},
		"a caller who may not request": {
			darkroom: holder(), evidence: Evidence{Answer: Answer{Failure: NoRight}},
			verdict: "may not request it", remedy: "services/proxy in the namespace team-a",
		},
		"an image of the former source": {
			darkroom: refused(),
			evidence: Evidence{Answer: image, Variables: variables("SOURCE_KIND=webfolder", "SOURCE_BASEURL=https://old")},
			verdict: "serves this image; the pods still use WebFolder https://old, not WebFolder " + darkrooms.DefaultBaseURL +
				" as in the spec: GET /a.jpg?w=16: HTTP 404",
			remedy: "Check probe.path",
		},
		"a former source in another region": {
			darkroom: refused().S3("b", "eu-west-1"),
			evidence: Evidence{Answer: image, Variables: variables("SOURCE_KIND=s3", "SOURCE_BUCKET_NAME=b",
				"SOURCE_BUCKET_REGION=eu-west-2")},
			verdict: "the pods still use S3 b, region eu-west-2, not S3 b, region eu-west-1",
		},
		"an image that the former source lacks": {
			darkroom: refused().S3("b", "r").PathPrefix("/assets").Spec(withGate),
			evidence: Evidence{Answer: served(422, ""), Variables: variables("SOURCE_KIND=gcs", "SOURCE_BUCKET_NAME=old")},
			blame:    Source, verdict: "GoogleCloudStorage old: the response has status 422 Unprocessable Entity; the pods still",
			remedy: "Check probe.path", field: "source.bucket",
		},
		"a former additional source": {
			url: "https://photos.example.com/products/a.jpg", darkroom: refused().Spec(withSources),
			evidence: Evidence{
				Answer: image, Variables: variables("SOURCE_KIND=webfolder", "GATE_RESIZER=fast", "GATE_ADDITIONAL_SOURCES=new,products",
					"SOURCE_1_KIND=s3", "SOURCE_2_KIND=gcs", "SOURCE_2_BUCKET_NAME=old", "GATE_SOURCE_2_PATH=/products"),
			},
			verdict: "the pods still use GoogleCloudStorage old, not GoogleCloudStorage p",
		},
		"a source that stays": {
			darkroom: refused(),
			evidence: Evidence{Answer: image, Variables: variables("SOURCE_KIND=webfolder", "SOURCE_BASEURL="+darkrooms.DefaultBaseURL)},
			verdict:  "serves this image", remedy: "DNS",
		},
		"pods that the caller may not read": {
			darkroom: refused(), evidence: Evidence{Answer: image},
			verdict: "serves this image; the pods may still use earlier settings: GET /a.jpg", remedy: "Check probe.path",
		},
		"a change that the operator has not handled": {
			darkroom: holder().Generation(2), evidence: Evidence{Answer: image},
			verdict: "earlier settings: the operator has not handled the last change yet",
		},
		"a Darkroom that awaits only its routes": {
			darkroom: holder().
				Condition(degraded(v1alpha1.ConditionDomainsReady, v1alpha1.ReasonNotRouted, "Not routed.")).
				Condition(degraded(v1alpha1.ConditionReady, v1alpha1.ReasonNotRouted, "Not routed.")),
			evidence: Evidence{Answer: image}, verdict: "serves this image", remedy: "DNS",
		},
		"a probe, and no right to proxy": {
			darkroom: holder().Condition(degraded(v1alpha1.ConditionSourceReady,
				v1alpha1.ReasonSourceDenied, "GET /a.jpg: HTTP 403.")),
			evidence: Evidence{Answer: Answer{Failure: NoRight}}, blame: Source, verdict: "HTTP 403",
			remedy: "Check the credentials",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var err error
			c.evidence.URL, err = Parse(cmp.Or(c.url, "https://photos.example.com/a.jpg?w=300"))
			expect.NoError(t, err)
			if c.darkroom != nil {
				c.evidence.Claimants = []*v1alpha1.Darkroom{c.darkroom.Obj()}
			}
			if c.evidence.Endpoints.Access == Unread {
				c.evidence.Endpoints = ready(2)
			}
			got := Decide(&c.evidence)
			if got.Blame != c.blame || got.Field != c.field && c.field != "" || !strings.Contains(got.Verdict, c.verdict) ||
				!strings.Contains(got.Remedy, c.remedy) {
				t.Errorf("got %+v, want blame %q, verdict %q, remedy %q, field %q", got, c.blame, c.verdict, c.remedy, c.field)
			}
			valid(t, got)
		})
	}
}

// TestAHostOfTwo names the Darkroom that holds the host and the one that is refused, in any order.
func TestAHostOfTwo(t *testing.T) {
	younger := darkrooms.New("dogs", "zoo").Obj()
	for _, claimants := range [][]*v1alpha1.Darkroom{{holder().Obj(), younger}, {younger, holder().Obj()}} {
		e := &Evidence{
			URL: URL{Host: host, Path: "/a.jpg"}, Claimants: claimants, Endpoints: ready(2),
			Answer: served(200, "image/png"),
		}
		got := Decide(e)
		if *got.Darkroom != (Subject{"team-a", "photos"}) || got.Blame != "" ||
			got.Hops[0].Detail != "team-a/photos has the host; also claimed by zoo/dogs, without effect, because "+
				"the first claim counts" {
			t.Errorf("%+v", got)
		}
	}
}

func TestTimesOfTheHops(t *testing.T) {
	answer := served(200, "image/webp")
	answer.Cache, answer.Parts = serverTiming(
		"cache;desc=miss, fetch;dur=20.0, queue;dur=3.0, transform;dur=15.5, total;dur=39.0",
	)
	e := &Evidence{
		URL: URL{Host: host, Path: "/a.jpg"}, Claimants: []*v1alpha1.Darkroom{holder().Spec(withGate).Obj()},
		Endpoints: ready(2), Answer: answer,
	}
	e.Ingress = routed(host)
	want := []Hop{
		{Kind: Host, Name: host, State: OK, Detail: "team-a/photos has the host"},
		{
			Kind: Route, Name: "Ingress photos", State: OK,
			Detail: "routes the host to the Service, the default class, at 192.0.2.1",
		},
		{Kind: Service, Name: "Service photos", State: OK, Detail: "2 of 2 endpoints are ready"},
		{
			Kind: Gate, Name: "gate of photos", State: OK, Detail: "cache: miss, queue: 3 ms", Status: 200,
			Milliseconds: 40, Bytes: 1000,
		},
		{Kind: Darkroom, Name: "team-a/photos", State: OK, Milliseconds: 15.5},
		{Kind: Source, Name: "WebFolder " + darkrooms.DefaultBaseURL, State: OK, Milliseconds: 20},
	}
	expect.Equal(t, "hops", want, Decide(e).Hops)
	e.Answer.Cache, e.Answer.Parts = serverTiming("cache;desc=hit, total;dur=0.1")
	for _, hop := range Decide(e).Hops[4:] {
		if hop.State != NotAsked {
			t.Errorf("with a cached image: %+v", hop)
		}
	}
}

// valid checks the properties of every explanation.
func valid(t interface {
	Helper()
	Errorf(format string, args ...any)
}, x *Explanation,
) {
	t.Helper()
	order := []Kind{Host, Route, Service, Gate, Darkroom, Source}
	first := slices.IndexFunc(x.Hops, func(h Hop) bool { return h.State == Failed })
	if (first < 0) != (x.Blame == "") || first >= 0 && x.Hops[first].Kind != x.Blame {
		t.Errorf("%q is to blame of %+v", x.Blame, x.Hops)
	}
	if !slices.IsSortedFunc(x.Hops,
		func(a, b Hop) int { return slices.Index(order, a.Kind) - slices.Index(order, b.Kind) }) {
		t.Errorf("hops are %+v", x.Hops)
	}
	if x.Verdict == "" || x.Blame != "" && x.Remedy == "" || strings.HasSuffix(x.Verdict, ".") ||
		strings.HasSuffix(x.Remedy, ".") {
		t.Errorf("verdict %q, remedy %q", x.Verdict, x.Remedy)
	}
	for _, hop := range x.Hops {
		if hop.State == "" || hop.Name == "" || hop.State == Failed && hop.Detail == "" {
			t.Errorf("hop %+v", hop)
		}
	}
}

// TestEveryExplanationIsValid combines everything that can be found about a Darkroom, and conceals possible
// credentials.
func TestEveryExplanationIsValid(t *testing.T) {
	const secret = "kanarienvogel"
	property.Check(t, func(t *rapid.T) {
		e := &Evidence{}
		var err error
		path := rapid.StringMatching(`(/[a-z.%?]{0,4}){0,3}`).Draw(t, "path")
		names := rapid.SliceOf(rapid.SampledFrom([]string{"s", "token", "X-Amz-Signature", "ixlib", "W", "expires"})).
			Draw(t, "parameters")
		if e.URL, err = Parse("https://user:" + secret + "@photos.example.com:8443" + path + "?w=30&" +
			strings.Join(names, "="+secret+"&") + "=" + secret + "#" + secret); err != nil {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("the error is %v", err)
			}
			return
		}
		darkroom := holder()
		if rapid.Bool().Draw(t, "gate") {
			darkroom.Spec(withGate)
		}
		if rapid.Bool().Draw(t, "gateway") {
			darkroom.Gateway("public")
		}
		if rapid.Bool().Draw(t, "S3") {
			darkroom.S3("b", "r").PathPrefix("/a")
		}
		switch rapid.IntRange(0, 3).Draw(t, "claim") {
		case 0:
			darkroom.Status(func(s *v1alpha1.DarkroomStatus) { *s = v1alpha1.DarkroomStatus{} })
		case 1:
			darkroom.Deleting(metav1.Now())
		}
		access := rapid.SampledFrom([]Access{Unread, Missing, Found})
		e.Ingress = routed(host)
		e.Ingress.Access, e.HTTPRoute.Access, e.Endpoints.Access = access.Draw(t, "Ingress"), access.Draw(t, "HTTPRoute"),
			access.Draw(t, "Endpoints")
		e.Endpoints.Object.Ready = rapid.IntRange(0, 2).Draw(t, "ready")
		darkroom.Generation(rapid.Int64Range(1, 2).Draw(t, "generation"))
		e.Variables = variables("SOURCE_KIND="+rapid.SampledFrom([]string{"", "s3", "ftp\x1b"}).Draw(t, "kind"),
			"GATE_ADDITIONAL_SOURCES=a,,b", "SOURCE_BUCKET_NAME=b\x1b[2J")
		e.Variables.Access = access.Draw(t, "Variables")
		if rapid.Bool().Draw(t, "claimed") {
			e.Claimants = []*v1alpha1.Darkroom{darkroom.Obj()}
		}
		e.Signature = rapid.SampledFrom([]Signature{
			SignatureAccepted, SignatureMissing, SignatureInvalid,
			SignatureExpired, SignatureUntimely,
		}).Draw(t, "signature")
		e.Seen = rapid.SampledFrom([]int{0, 200, 404, 503}).Draw(t, "seen")
		e.Answer.Failure = rapid.SampledFrom([]Failure{
			"", "", "", NotSent, NoRight, NoKeys, Unreachable,
			TimedOut,
		}).Draw(t, "failure")
		if e.Answer.Failure == "" {
			e.Answer = served(rapid.IntRange(200, 599).Draw(t, "status"),
				rapid.SampledFrom([]string{"", "text/html", "image/png"}).Draw(t, "type"))
			e.Answer.Cache, e.Answer.Parts = serverTiming(
				rapid.SampledFrom([]string{
					"", "cache;desc=hit", "cache;desc=miss, fetch;dur=1, transform;dur=2",
					"cache;desc=\x1b[2J",
				}).Draw(t, "timing"),
			)
			e.Answer.Detail = rapid.SampledFrom([]string{"", "the image is gone", "\x1b]0;title\a\nforged"}).Draw(t, "detail")
		}
		got := Decide(e)
		valid(t, got)
		body, err := json.Marshal(got)
		if err != nil || strings.Contains(string(body), secret) {
			t.Errorf("%s %v", body, err)
		}
		var screen strings.Builder
		err = got.Screen(&screen)
		if err != nil || strings.Contains(screen.String(), secret) || strings.Contains(screen.String(), "\x1b") {
			t.Errorf("%s %v", screen.String(), err)
		}
	})
}
