package advice

import "github.com/darkroom-operator/darkroom-operator/api/v1alpha1"

// phases summarize the conditions.
var phases = Table{
	Heading: "Phases",
	Entries: []Entry{
		{
			string(v1alpha1.PhasePending),
			"The Darkroom is queued. Nothing is installed yet.",
			"Wait. If it takes long, check that an operator watches the namespace and the labels.",
		},
		{
			string(v1alpha1.PhaseDeploying),
			"A change is being applied, rolled out, scaled or routed.",
			"Wait. The message names what is missing, such as a Gateway.",
		},
		{
			string(v1alpha1.PhaseReady),
			"All pods are ready with the desired specification, and every host is routed.",
			"Nothing.",
		},
		{
			string(v1alpha1.PhaseIdle),
			"Scaled to zero by `spec.replicas: 0`. No images are served.",
			"Nothing. Set `replicas` to serve images again.",
		},
		{string(v1alpha1.PhaseDegraded), "Installed, but not fully working.", "See the reason of `Ready`."},
		{
			string(v1alpha1.PhaseFailed),
			"The Darkroom is invalid, or its release could not be installed or upgraded. Pods of the last " +
				"good release keep running.",
			"See the reason of `Ready`.",
		},
		{string(v1alpha1.PhaseTerminating), "Being deleted.", "Wait. If it takes long, read the operator's log."},
		{
			string(v1alpha1.PhasePaused),
			"The annotation `deployments.example.com/paused: \"true\"` suspends reconciliation.",
			"Remove the annotation to resume.",
		},
	},
}

var conditions = Table{
	Heading: "Conditions",
	Entries: []Entry{
		{
			v1alpha1.ConditionReady,
			"True: phase `Ready` or `Idle`. Never True before the current generation is applied and its " +
				"Deployment is in the operator's cache.",
			"See its reason.",
		},
		{
			v1alpha1.ConditionDomainsReady,
			"True: every host is routed. With an Ingress, the host is in the rules of the live Ingress. With " +
				"an HTTPRoute, every Gateway in `parentRefs` has accepted the current generation of the route " +
				"(`Accepted` and `ResolvedRefs`).",
			"See its reason.",
		},
		{
			v1alpha1.ConditionCredentialsReady,
			"True: the referenced Secret exists. Absent if none is referenced.",
			"Create the Secret or the key named in the message.",
		},
		{
			v1alpha1.ConditionSourceReady,
			"True: the image of `spec.probe` is served. False: it is not, or not by new pods. Unknown without" +
				" a probe, and while no pod can be probed.",
			"See its reason.",
		},
		{
			v1alpha1.ConditionReconciling,
			"True while the operator or the cluster is working on the Darkroom, otherwise absent. It has the " +
				"reason and message of `Ready`.",
			"Wait.",
		},
		{
			v1alpha1.ConditionStalled,
			"True if the Darkroom needs intervention to make progress, otherwise absent. It has the reason and " +
				"message of `Ready`.",
			"See the reason of `Ready`.",
		},
		{v1alpha1.ConditionInitialized, "True: the operator has handled the Darkroom.", "Wait."},
		{v1alpha1.ConditionDeployed, "True: a release is installed.", "See `ReleaseFailed`."},
		{
			v1alpha1.ConditionReleaseFailed,
			"True: the last install, upgrade or uninstall failed. It is retried with exponential back-off.",
			"Fix the cause given in the message.",
		},
		{
			v1alpha1.ConditionIrreconcilable,
			"True: the Darkroom cannot be translated, or its release cannot be kept in the desired state.",
			"Fix the cause given in the message.",
		},
		{
			v1alpha1.ConditionContested,
			"True: another writer keeps changing an object of the Darkroom, and the operator repairs it less " +
				"often. Otherwise absent.",
			"Find the other writer. The message names it if it is known.",
		},
		{
			v1alpha1.ConditionRolloutQueued,
			"True: a rollout caused by an upgrade or a setting of the operator waits for other rollouts of this " +
				"kind. The previous pods keep serving, and all other objects are applied. Otherwise absent.",
			"Wait ([Rollouts of a fleet](operations.md#rollouts-of-a-fleet)).",
		},
		{v1alpha1.ConditionPaused, "True: reconciliation is suspended.", "Remove the annotation to resume."},
	},
}
