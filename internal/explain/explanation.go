package explain

import (
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/types"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// Explanation explains one URL.
type Explanation struct {
	URL      string   `json:"url" doc:"The URL without signature and unknown parameters, which may be credentials"`
	Darkroom *Subject `json:"darkroom,omitempty" doc:"The Darkroom that has the host, or claims it"`
	Verdict  string   `json:"verdict" doc:"The result in a sentence"`
	Blame    Kind     `json:"blame,omitempty" enum:"host,route,service,gate,darkroom,source" doc:"The hop to blame; none if the image is served or the cause unknown"`
	Remedy   string   `json:"remedy,omitempty" doc:"What to do, in a sentence that names the field or command"`
	Field    string   `json:"field,omitempty" doc:"The field of the Darkroom to edit, for example source.baseUrl"`
	Hops     []Hop    `json:"hops" doc:"From the host to the source"`
}

// Subject names a Darkroom.
type Subject struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// Kind is the kind of a hop.
type Kind string

// The kinds of hops, in the order of a request.
const (
	Host     Kind = "host"
	Route    Kind = "route"
	Service  Kind = "service"
	Gate     Kind = "gate"
	Darkroom Kind = "darkroom"
	Source   Kind = "source"
)

// State is the result of examining a hop.
type State string

// The states of hops.
const (
	OK       State = "ok"
	Failed   State = "failed"
	Unknown  State = "unknown"
	NotAsked State = "notAsked"
)

// Hop is a part of the path of a request.
type Hop struct {
	Kind         Kind    `json:"kind" enum:"host,route,service,gate,darkroom,source"`
	Name         string  `json:"name" doc:"For example Ingress photos"`
	State        State   `json:"state" enum:"ok,failed,unknown,notAsked" doc:"notAsked: an earlier hop responded, or the request did not reach this one"`
	Detail       string  `json:"detail,omitempty"`
	Status       int     `json:"status,omitempty" doc:"HTTP status of its response"`
	Milliseconds float64 `json:"milliseconds,omitempty"`
	Bytes        int64   `json:"bytes,omitempty"`
}

// Evidence contains all facts about a URL that Decide needs.
type Evidence struct {
	URL URL
	// BaseDomains are the operator's base domains; empty if unknown.
	BaseDomains []string
	// Claimants are the Darkrooms visible to the caller that serve or want the host, in the order of the function
	// Claimants.
	Claimants []*v1alpha1.Darkroom
	// Holder is the Darkroom that holds the host according to the Lease; empty if there is none. It is valid only if
	// HolderKnown is set.
	Holder      types.NamespacedName
	HolderKnown bool
	// Seen is the status that a client received from the host of the URL; 0 if unknown.
	Seen int

	Ingress   Read[networkingv1.Ingress]
	HTTPRoute Read[gatewayv1.HTTPRoute]
	// Endpoints are the endpoints of the Service.
	Endpoints Read[Endpoints]
	// Variables are the data of the ConfigMap that a ready pod reads, which may be from an earlier generation. They are
	// only read if the current generation is not ready.
	Variables Read[map[string]string]
	Signature Signature
	Answer    Answer
}

// Endpoints counts the endpoints of a Service.
type Endpoints struct{ Ready, All int }

// Access is the outcome of a read with the permissions of the caller.
type Access int

// Outcomes of reads. Unread means that the caller may not read the object.
const (
	Unread Access = iota
	Missing
	Found
)

// Read is an object and whether it was found.
type Read[T any] struct {
	Access Access
	Object T
}

// Failure is the reason why there is no response from a Darkroom.
type Failure string

// Failures of requests.
const (
	NotSent     Failure = "notSent"
	NoRight     Failure = "noRight"
	NoKeys      Failure = "noKeys"
	Unreachable Failure = "unreachable"
	TimedOut    Failure = "timedOut"
)

// Answer is the response of a Darkroom through its Service.
type Answer struct {
	// Failure is set if there is no response.
	Failure     Failure
	Status      int
	ContentType string
	Bytes       int64
	Took        time.Duration
	// Detail is the gate's message about its failure.
	Detail string
	// Cache is the state of the gate's cache, and Parts are the durations in Server-Timing, in milliseconds.
	Cache string
	Parts map[string]float64
}
