package controller

// Permissions of the manager. controller-gen generates config/rbac from these markers. docs/security.md gives the
// reason for each permission.

// Darkrooms: finalizers are patched, and the status is applied.
// +kubebuilder:rbac:groups=deployments.example.com,resources=darkrooms,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=deployments.example.com,resources=darkrooms/status,verbs=patch
// +kubebuilder:rbac:groups=deployments.example.com,resources=darkrooms/finalizers,verbs=update

// Objects of the chart, written by server-side apply.
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=configmaps;services;serviceaccounts,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=networking.k8s.io,resources=ingresses;networkpolicies,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=autoscaling,resources=horizontalpodautoscalers,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=gateway.networking.k8s.io,resources=httproutes,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=monitoring.coreos.com,resources=servicemonitors,verbs=get;list;watch;create;patch;delete

// Helm releases and inline credentials are stored in Secrets.
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch;create;patch;delete

// The history of Darkrooms for users who may not read Secrets: a record of each revision is created once and later
// pruned.
// +kubebuilder:rbac:groups=apps,resources=controllerrevisions,verbs=get;create;patch;delete

// Reasons why pods are not ready.
// +kubebuilder:rbac:groups="",resources=pods,verbs=list
// +kubebuilder:rbac:groups=apps,resources=replicasets,verbs=list

// Check that the class of an Ingress exists. A Role cannot grant access to IngressClasses; an operator limited to
// namespaces skips the check.
// +kubebuilder:rbac:groups=networking.k8s.io,resources=ingressclasses,verbs=get;list;watch

// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups="",resources=events,verbs=create;patch

// Permission to create TokenReviews and SubjectAccessReviews for the metrics endpoint is in
// config/rbac/metrics_auth_role.yaml, because a Role cannot grant it. All permissions above work in a Role, except for
// IngressClasses.
