package main

// The parts of a CustomResourceDefinition that the page shows.
type (
	crd struct {
		Spec struct {
			Group string `json:"group"`
			Scope string `json:"scope"`
			Names struct {
				Kind       string   `json:"kind"`
				Plural     string   `json:"plural"`
				ShortNames []string `json:"shortNames"`
			} `json:"names"`
			Versions []version `json:"versions"`
		} `json:"spec"`
	}

	version struct {
		Name   string `json:"name"`
		Schema struct {
			OpenAPIV3Schema schema `json:"openAPIV3Schema"`
		} `json:"schema"`
	}

	schema struct {
		Type                 string            `json:"type"`
		Description          string            `json:"description"`
		Properties           map[string]schema `json:"properties"`
		Required             []string          `json:"required"`
		Items                *schema           `json:"items"`
		AdditionalProperties *schema           `json:"additionalProperties"`
		IntOrString          bool              `json:"x-kubernetes-int-or-string"`

		Default       any      `json:"default"`
		Enum          []any    `json:"enum"`
		Minimum       *int64   `json:"minimum"`
		Maximum       *int64   `json:"maximum"`
		MinLength     int64    `json:"minLength"`
		MaxLength     int64    `json:"maxLength"`
		MinItems      int64    `json:"minItems"`
		MaxItems      int64    `json:"maxItems"`
		MaxProperties int64    `json:"maxProperties"`
		ListType      string   `json:"x-kubernetes-list-type"`
		ListMapKeys   []string `json:"x-kubernetes-list-map-keys"`
		Rules         []rule   `json:"x-kubernetes-validations"`
	}

	// rule is a CEL rule; FieldPath is where its message is shown, below the
	// object that has the rule.
	rule struct {
		FieldPath string `json:"fieldPath"`
		Message   string `json:"message"`
	}
)

// kubernetesTypes are the fields whose types are Kubernetes' own, with the anchors
// of their descriptions. They are linked to instead of spelled out.
var kubernetesTypes = map[string]string{
	"spec.resources":                             "resourcerequirements-v1-core",
	"spec.autoscaling.behavior":                  "horizontalpodautoscalerbehavior-v2-autoscaling",
	"spec.gate.resources":                        "resourcerequirements-v1-core",
	"spec.extraEnv":                              "envvar-v1-core",
	"spec.extraEnvFrom":                          "envfromsource-v1-core",
	"spec.image.pullSecrets":                     "localobjectreference-v1-core",
	"spec.podTemplate.affinity":                  "affinity-v1-core",
	"spec.podTemplate.tolerations":               "toleration-v1-core",
	"spec.podTemplate.topologySpreadConstraints": "topologyspreadconstraint-v1-core",
}

const kubernetesReference = "https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#"
