/** Annotations of api/v1alpha1 that actions set; a test compares them. */
export const pausedAnnotation = "deployments.example.com/paused";
export const requestedAnnotation = "deployments.example.com/requested-at";
/** The annotation of pods that `kubectl rollout restart` sets. */
export const restartedAnnotation = "kubectl.kubernetes.io/restartedAt";
