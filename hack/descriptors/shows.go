package main

// Prefixes of x-descriptors, as the OpenShift console knows them:
// https://github.com/openshift/console/blob/master/frontend/packages/operator-lifecycle-manager/src/components/descriptors/reference/reference.md
const (
	ui   = "urn:alm:descriptor:com.tectonic.ui:"
	core = "urn:alm:descriptor:io.kubernetes:"
)

// specShows are the fields of spec that are not shown according to their type.
var specShows = map[string][]string{
	"replicas":                              {ui + "podCount"},
	"resources":                             {ui + "resourceRequirements"},
	"image.pullPolicy":                      {ui + "imagePullPolicy"},
	"image.pullSecrets":                     {ui + "advanced", core + "Secret"},
	"source.accessKey":                      {ui + "password"},
	"source.secretKey":                      {ui + "password"},
	"source.credentialsSecretRef.name":      {core + "Secret"},
	"subDomains":                            {ui + "text"},
	"defaultParams":                         {ui + "advanced"},
	"ingress.annotations":                   {ui + "advanced"},
	"ingress.tlsSecretName":                 {core + "Secret"},
	"podTemplate.annotations":               {ui + "advanced"},
	"podTemplate.labels":                    {ui + "advanced"},
	"podTemplate.nodeSelector":              {ui + "selector:core:v1:Node"},
	"podTemplate.tolerations":               {ui + "advanced"},
	"podTemplate.topologySpreadConstraints": {ui + "advanced"},
	"podTemplate.affinity.nodeAffinity":     {ui + "nodeAffinity"},
	"podTemplate.affinity.podAffinity":      {ui + "podAffinity"},
	"podTemplate.affinity.podAntiAffinity":  {ui + "podAntiAffinity"},
	"podTemplate.serviceAccountName":        {core + "ServiceAccount"},
	"extraEnv":                              {ui + "advanced"},
	"extraEnvFrom":                          {ui + "advanced"},
}

// statusShows are the fields of status that are not shown according to their type.
var statusShows = map[string][]string{
	"phase":         {core + "phase"},
	"message":       {core + "phase:reason"},
	"conditions":    {core + "conditions"},
	"address":       {"urn:alm:descriptor:org.w3:link"},
	"domains":       {ui + "text"},
	"readyReplicas": {ui + "podCount"},
	"replicas":      {ui + "podCount"},
	"selector":      {ui + "text"},
}

// arrays are the lists whose items have descriptors of their own.
var arrays = map[string]bool{"gateway.parentRefs": true}

// sourceFields are the kinds of source that a field is for.
var sourceFields = map[string][]string{
	"source.baseUrl":        {"WebFolder"},
	"source.region":         {"S3"},
	"source.endpoint":       {"S3"},
	"source.accessKey":      {"S3"},
	"source.secretKey":      {"S3"},
	"source.bucket":         {"S3", "GoogleCloudStorage"},
	"source.pathPrefix":     {"S3", "CloudFront"},
	"source.host":           {"CloudFront"},
	"source.secureProtocol": {"CloudFront"},

	"source.credentialsSecretRef.accessKeyKey":       {"S3"},
	"source.credentialsSecretRef.secretKeyKey":       {"S3"},
	"source.credentialsSecretRef.credentialsJsonKey": {"GoogleCloudStorage"},
}

// displayNames are the display names that are not derived from the name of the field.
var displayNames = map[string]string{
	"baseUrl":                        "Base URL",
	"cacheTTLSeconds":                "Cache time in seconds",
	"credentialsJsonKey":             "Key of the JSON credentials",
	"credentialsSecretRef":           "Credentials Secret",
	"accessKeyKey":                   "Key of the access key",
	"secretKeyKey":                   "Key of the secret key",
	"extraEnv":                       "Extra environment variables",
	"extraEnvFrom":                   "Extra environment sources",
	"parentRefs":                     "Parent Gateways",
	"subDomains":                     "Sub-domains",
	"targetCPUUtilizationPercentage": "Target CPU utilization in per cent",
	"tlsSecretName":                  "TLS Secret",
	"type":                           "Type",
}
