package advice

import "github.com/darkroom-operator/darkroom-operator/api/v1alpha1"

var ofReady = Table{
	Heading: "Reasons of Ready",
	Entries: []Entry{
		{v1alpha1.ReasonAllReplicasReady, "True: every pod is ready.", "Nothing."},
		{v1alpha1.ReasonScaledToZero, "True: no pods are requested or running.", "Nothing."},
		{v1alpha1.ReasonPending, "The release is not installed yet.", "Wait."},
		{v1alpha1.ReasonDeploying, "A change is being applied, rolled out or scaled.", "Wait."},
		{
			v1alpha1.ReasonInvalid,
			"The Darkroom cannot be translated. It is not retried until it changes.",
			"Change the fields named in the message.",
		},
		{
			v1alpha1.ReasonReleaseFailed,
			"The release could not be installed, upgraded or repaired. It is retried.",
			"Fix the cause named in the message, often a quota, an admission policy, or a foreign object" +
				" of the same name.",
		},
		{
			v1alpha1.ReasonForeignRelease,
			"A Helm release with the Darkroom's name exists but does not belong to the Darkroom. Also a reason " +
				"of `Deployed`.",
			"Rename the Darkroom, or uninstall the release.",
		},
		{
			v1alpha1.ReasonImagePullFailed,
			"A pod cannot pull its container image.",
			"Check `version`, `image.repository` and `image.pullSecrets`.",
		},
		{
			v1alpha1.ReasonPodsFailing,
			"A pod crashes repeatedly, or cannot start.",
			"Read the message, which quotes the container runtime if it could not start the container; else " +
				"read the log of the pod (`kubectl logs --previous`). Check `extraEnv` and `resources`.",
		},
		{
			v1alpha1.ReasonUnschedulable,
			"No node has room for a pod.",
			"Add a node, or change `resources` or the scheduling fields of `podTemplate`.",
		},
		{
			v1alpha1.ReasonProgressDeadlineExceeded,
			"The rollout made no progress within two minutes.",
			"`kubectl describe` the newest pod.",
		},
		{
			v1alpha1.ReasonPodsRefused,
			"The Kubernetes API server rejects new pods.",
			"Raise the quota, or fix the violation of the policy named in the message.",
		},
		{
			v1alpha1.ReasonReplicasUnavailable,
			"Pods were lost, and fewer are ready than requested.",
			"Wait for their replacement. If it takes long, check the nodes.",
		},
		{
			v1alpha1.ReasonAutoscalingSuspended,
			"The Deployment of an autoscaled Darkroom was scaled to zero by hand, which suspends the " +
				"autoscaler.",
			"Scale the Deployment up.",
		},
		{v1alpha1.ReasonTerminating, "The Darkroom is being deleted.", "Wait."},
		{v1alpha1.ReasonPaused, "Unknown: reconciliation is suspended.", "Remove the annotation to resume."},
	},
}

var ofDomainsReady = Table{
	Heading: "Reasons of DomainsReady",
	Entries: []Entry{
		{v1alpha1.ReasonRouted, "True: every host is routed.", "Nothing."},
		{v1alpha1.ReasonNotRouted, "A host is not in the live Ingress or HTTPRoute yet.", "Wait."},
		{
			v1alpha1.ReasonAwaitingGateway,
			"Unknown: a Gateway has not reported on the current generation of the HTTPRoute.",
			"Check that the Gateway in the message exists, and that its controller is running.",
		},
		{
			v1alpha1.ReasonIngressClassMissing,
			"The IngressClass of the Ingress does not exist. Not checked if the operator is limited to " +
				"namespaces.",
			"Set `ingress.className` to a class listed by `kubectl get ingressclasses`, or install the controller of " +
				"that class.",
		},
		{
			v1alpha1.ReasonCertificateMissing,
			"The Secret `ingress.tlsSecretName` does not exist. `status.url` has the scheme http.",
			"Create the Secret, or check cert-manager if it creates the Secret.",
		},
		{
			v1alpha1.ReasonAwaitingAddress,
			"Unknown: no controller has published an address for the Ingress. `Ready` is not affected, " +
				"because some never do.",
			"Check that a controller serves the class of the Ingress.",
		},
		{
			v1alpha1.ReasonRouteRefused,
			"A Gateway does not accept the HTTPRoute.",
			"Check that its listeners allow routes from the namespace (`allowedRoutes`) and have a matching " +
				"hostname.",
		},
		{
			v1alpha1.ReasonRouteUnresolved,
			"A Gateway cannot resolve a reference of the HTTPRoute.",
			"Wait. If it takes long, check that the Services of the Darkroom exist.",
		},
		{
			v1alpha1.ReasonDomainConflict,
			"Another Darkroom claimed a host first.",
			"Choose another host in `subDomains`, or remove it from the other Darkroom.",
		},
	},
}

var ofCredentialsReady = Table{
	Heading: "Reasons of CredentialsReady",
	Entries: []Entry{
		{v1alpha1.ReasonSecretFound, "True: the Secret exists and has all keys that the pods need.", "Nothing."},
		{v1alpha1.ReasonSecretMissing, "The referenced Secret does not exist.", "Create the Secret. No restart is needed."},
		{
			v1alpha1.ReasonSecretKeyMissing,
			"A pod cannot start, because the Secret lacks a key.",
			"Add the key, or name another key in `credentialsSecretRef`.",
		},
	},
}

var ofSourceReady = Table{
	Heading: "Reasons of SourceReady",
	Entries: []Entry{
		{v1alpha1.ReasonImageServed, "True: the image is served in the requested size.", "Nothing."},
		{
			v1alpha1.ReasonNoProbe,
			"Unknown: the Darkroom sets no `spec.probe`.",
			"Set `probe.path` to the path of an image.",
		},
		{
			v1alpha1.ReasonProbeOff,
			"Unknown: the operator runs with `--probe-via=off` and requests no image. New pods still have to " +
				"serve it.",
			"Nothing, or run the operator with `--probe-via=service`.",
		},
		{
			v1alpha1.ReasonProbePending,
			"Unknown: the rollout is not complete, or there were too few probes to decide.",
			"Wait.",
		},
		{
			v1alpha1.ReasonImageUnprocessable,
			"HTTP 422: Darkroom could not fetch the image, or the file is not an image. Most mistakes in " +
				"`source` have this result. With a gate HTTP 413 or 415: the file exceeds `gate.limits`, or is " +
				"not an image.",
			"Check `source.baseUrl`, `bucket`, `region`, `endpoint` or `host`, and the network of the pods.",
		},
		{
			v1alpha1.ReasonSourceDenied,
			"HTTP 401 or 403: the source denied access.",
			"Check the credentials, and the policy of the bucket or distribution.",
		},
		{
			v1alpha1.ReasonImageNotFound,
			"HTTP 404: the source has no such image.",
			"Check `probe.path`, `source.bucket` and `source.pathPrefix`.",
		},
		{
			v1alpha1.ReasonSourceRedirected,
			"HTTP 3xx: the source redirects, as S3 does for a bucket in another region.",
			"Check `source.region` and `source.endpoint`, or set the final address.",
		},
		{v1alpha1.ReasonSourceRejected, "Another HTTP 4xx.", "Check `source.region` and the credentials."},
		{
			v1alpha1.ReasonSourceFailing,
			"HTTP 5xx: the source or Darkroom failed.",
			"Check the source, and read the log of the pods.",
		},
		{
			v1alpha1.ReasonSourceTimeout,
			"Darkroom accepted the request but did not respond in time, or a gate responded with HTTP 504.",
			"Check that the pods can reach the source, or raise `probe.timeoutSeconds`.",
		},
		{
			v1alpha1.ReasonNewPodsNotServing,
			"The pods of a rollout do not serve the image, but the previous pods do. The reason of `Ready` is" +
				" the cause.",
			"See the reason of `Ready`.",
		},
		{
			v1alpha1.ReasonUnreachable,
			"The connection to the Service failed or was closed.",
			"Check endpoints and network policies, and read the log of the pods.",
		},
		{
			v1alpha1.ReasonNotAnImage,
			"The response is not an image.",
			"Check `image`, and the pods that the Service selects.",
		},
		{
			v1alpha1.ReasonProbeForbidden,
			"The operator may not use the proxy of Services.",
			"Grant the permission, see [security.md](security.md#probes).",
		},
		{v1alpha1.ReasonProbeInvalid, "`probe.path` is not a valid path.", "Correct it."},
	},
}

var ofHelm = Table{
	Heading: "Reasons of the Helm conditions",
	Entries: []Entry{
		{v1alpha1.ReasonInstallSuccessful, "`Deployed`: the release was installed.", "Nothing."},
		{v1alpha1.ReasonUpgradeSuccessful, "`Deployed`: the release was upgraded.", "Nothing."},
		{v1alpha1.ReasonUninstallSuccessful, "`Deployed` is False: the release was uninstalled.", "Nothing."},
		{
			v1alpha1.ReasonPauseReconcileAnnotationTrue,
			"`Paused`: the annotation is set.",
			"Remove the annotation to resume.",
		},
		{
			v1alpha1.ReasonErrorGettingClient,
			"`Irreconcilable`: the Helm client could not be created.",
			"Read the operator's log.",
		},
		{
			v1alpha1.ReasonErrorGettingValues,
			"`Irreconcilable`: the Darkroom cannot be translated into values of the chart.",
			"Change the fields named in the message.",
		},
		{
			v1alpha1.ReasonErrorGettingReleaseState,
			"`Irreconcilable`: the stored release could not be read, or another Helm client is changing it.",
			"Wait two minutes. If a Secret of Helm is damaged, the message names it.",
		},
		{
			v1alpha1.ReasonInstallError,
			"`ReleaseFailed`: the install failed.",
			"Fix the cause given in the message.",
		},
		{
			v1alpha1.ReasonUpgradeError,
			"`ReleaseFailed`: the upgrade failed.",
			"Fix the cause given in the message.",
		},
		{
			v1alpha1.ReasonReconcileError,
			"`Irreconcilable`: objects could not be created, repaired or deleted.",
			"Fix the cause given in the message.",
		},
		{
			v1alpha1.ReasonForeignWriter,
			"`Contested`: another writer keeps changing an object.",
			"Find the other writer. The message names it if it is known.",
		},
		{
			v1alpha1.ReasonRolloutLimit,
			"`RolloutQueued`: as many Darkrooms as `--max-concurrent-rollouts` allows are replacing their pods " +
				"because of the operator.",
			"Wait, or edit the Darkroom.",
		},
		{
			v1alpha1.ReasonUninstallError,
			"`ReleaseFailed`: the uninstall failed.",
			"Fix the cause given in the message.",
		},
	},
}
