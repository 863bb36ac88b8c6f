package status

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/gateway"
)

// attachment is the combined status of a route at all its Gateways.
type attachment struct {
	verdict gateway.Verdict
	message string
}

// attachmentOf returns the attachment of the route to every Gateway that the Darkroom
// names. The cached route may still have earlier Gateways, which do not count.
func attachmentOf(darkroom *v1alpha1.Darkroom, route *gatewayv1.HTTPRoute) attachment {
	var worst attachment
	if darkroom.Spec.Gateway == nil {
		return worst
	}
	for _, ref := range darkroom.Spec.Gateway.ParentRefs {
		parent := gateway.Parent{Namespace: cmp.Or(ref.Namespace, darkroom.Namespace), Name: ref.Name, Section: ref.SectionName}
		verdict, said := gateway.Judge(route, parent)
		if verdict <= worst.verdict {
			continue
		}
		worst.verdict = verdict
		switch verdict {
		case gateway.Awaiting:
			worst.message = fmt.Sprintf("%s has not accepted the HTTPRoute yet: check that the Gateway exists, that its controller runs, "+
				"and that its listeners allow routes from namespace %s.", parent, darkroom.Namespace)
		case gateway.Unresolved:
			worst.message = sentence(fmt.Sprintf("%s cannot resolve a reference of the HTTPRoute: %s", parent, cause(said)))
		case gateway.Refused:
			worst.message = sentence(fmt.Sprintf("%s does not accept the HTTPRoute: %s", parent, cause(said)))
		}
	}
	return worst
}

func cause(said *metav1.Condition) string {
	return strings.TrimSuffix(said.Reason+": "+said.Message, ": ")
}

// attachedSecurely reports whether a route is attached to a listener that is known to serve
// HTTPS. The operator reads no Gateways, so what it knows of a listener is its name: https,
// or one that starts with "https-" or ends in "-https".
func attachedSecurely(route *gatewayv1.HTTPRoute) bool {
	const secure = "https"
	accepted, _ := gateway.AcceptedBy(route)
	return slices.ContainsFunc(accepted, func(by gateway.Parent) bool {
		return by.Section == secure || strings.HasPrefix(by.Section, secure+"-") || strings.HasSuffix(by.Section, "-"+secure)
	})
}
