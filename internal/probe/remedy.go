package probe

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// anySource is the key of the remedy for types of sources without a specific one.
const anySource v1alpha1.SourceType = ""

// remedies are the likely causes of a failure, most likely first, by reason and type of source. They name fields of the
// resource but not their values.
var remedies = map[string]map[v1alpha1.SourceType]string{
	v1alpha1.ReasonSourceDenied: {
		v1alpha1.S3: "S3 refused access: check the keys of the source, that they are allowed s3:GetObject on " +
			"source.bucket, and that the image exists (without s3:ListBucket, S3 returns 403 for a missing object).",
		v1alpha1.GoogleCloudStorage: "Google Cloud Storage refused access: check source.credentialsSecretRef, and that " +
			"its service account has storage.objects.get on source.bucket; without credentials the bucket must be public.",
		v1alpha1.CloudFront: "CloudFront refused access: check that the distribution at source.host allows requests " +
			"without signed URLs, that it may read its origin, and that the image exists.",
		anySource: "The source refused access: check spec.source and who may read from it.",
	},
	v1alpha1.ReasonImageNotFound: {
		v1alpha1.S3: "Check that source.bucket has an object at this path, and that source.pathPrefix, if set, is the " +
			"beginning of the path: it is not stripped.",
		v1alpha1.GoogleCloudStorage: "Check that source.bucket exists and has an object at this path.",
		v1alpha1.CloudFront: "Check that the distribution at source.host has this path, and that source.pathPrefix, if " +
			"set, is the beginning of the path: it is not stripped.",
		v1alpha1.WebFolder: "Check that source.baseUrl followed by this path is an image.",
		anySource:          "Check that the source has an image at this path.",
	},
	v1alpha1.ReasonImageUnprocessable: {
		v1alpha1.WebFolder: "Darkroom could not fetch the image, or what it fetched is not an image that it can process: " +
			"check that source.baseUrl followed by this path is a JPEG, PNG or WebP image, and that the pods can reach it.",
		v1alpha1.S3: "Darkroom received no response from S3, or the object is not an image that it can process: " +
			"check source.bucket, source.region, source.endpoint and the keys, that the pods can reach S3, and that the " +
			"object is a JPEG, PNG or WebP image.",
		v1alpha1.GoogleCloudStorage: "Darkroom could not read the object, or it is not an image that Darkroom can " +
			"process: check source.bucket and the credentials, that the pods can reach storage.googleapis.com, and that the " +
			"object is a JPEG, PNG or WebP image.",
		v1alpha1.CloudFront: "Darkroom could not fetch the image, or what it fetched is not an image that it can " +
			"process: check source.host and source.secureProtocol, that the pods can reach the distribution, and that the " +
			"image exists and is a JPEG, PNG or WebP image.",
		anySource: "Darkroom could not fetch or process the image: check spec.source.",
	},
	v1alpha1.ReasonSourceRedirected: {
		v1alpha1.S3: "S3 redirects requests for a bucket of another region: check source.region, and " +
			"source.endpoint if it is set.",
		anySource: "The source redirects, which Darkroom does not follow here: set the final address in spec.source.",
	},
	v1alpha1.ReasonSourceRejected: {
		v1alpha1.S3: "S3 rejected the request, as it does when the region or the form of a key is wrong: check " +
			"source.region, source.endpoint and the keys.",
		anySource: "The source rejected the request: check spec.source, and the log of the pods.",
	},
	v1alpha1.ReasonSourceFailing: {
		v1alpha1.S3: "S3 failed, or receives too many requests; if source.endpoint is set, check that service. " +
			"The log of the pods contains the error.",
		anySource: "The source or Darkroom failed: check the source, and the log of the pods.",
	},
	v1alpha1.ReasonSourceTimeout: {
		anySource: "Darkroom waits for its source: check that the source is up, and that the pods can reach it (DNS, " +
			"egress policies, proxies). If the image is large, probe a smaller one or raise spec.probe.timeoutSeconds.",
	},
	v1alpha1.ReasonUnreachable: {
		anySource: "Check that the Service has ready endpoints, that network policies let the operator reach the pods at " +
			"port 3000, and the log of the pods. An operator outside of the cluster needs --probe-via=apiserver.",
	},
	v1alpha1.ReasonNotAnImage: {
		anySource: "Something other than Darkroom responded, or it served something other than an image: check " +
			"spec.image, and that the Service selects only pods of this Darkroom.",
	},
	v1alpha1.ReasonProbeForbidden: {
		anySource: "Grant the operator's ServiceAccount get on services/proxy and pods/proxy, or run the operator " +
			"with --probe-via=service.",
	},
	v1alpha1.ReasonProbeInvalid: {
		anySource: "Correct spec.probe.path.",
	},
}

// remedy returns what to check after a failure.
func remedy(reason string, target Target) string {
	if target.Gate && reason == v1alpha1.ReasonImageUnprocessable {
		return "Check that the source has a JPEG, PNG or WebP image at this path, within spec.gate.limits."
	}
	bySource, found := remedies[reason]
	if !found {
		return fmt.Sprintf("Check spec.source and the log of the pods (%s).", reason)
	}
	if text, found := bySource[target.Source]; found {
		return text
	}
	return bySource[anySource]
}

// Remedy returns what to check if a Darkroom fails to serve an image for a reason.
func Remedy(reason string, darkroom *v1alpha1.Darkroom) string {
	text := remedy(reason, Target{
		Source: cmp.Or(darkroom.Spec.Source.Type, v1alpha1.WebFolder),
		Gate:   darkroom.Spec.Gate != nil,
	})
	return strings.TrimSuffix(text, ".")
}

// RemedyOfAdditional returns what to check if an additional source fails.
func RemedyOfAdditional(name string) string {
	return fmt.Sprintf("Check %s in spec.additionalSources, its credentials, and that the pods can reach it", name)
}
