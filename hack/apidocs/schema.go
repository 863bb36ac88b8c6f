package main

import apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

type schema = apiextensionsv1.JSONSchemaProps

// kubernetesTypes are fields with Kubernetes types, and the anchors of their descriptions. They are linked instead of
// described.
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
