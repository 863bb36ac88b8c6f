/** Every reason of a condition or event that the API can report; words.test.ts compares the list with the operator. */
export const reasonWords: Record<string, string> = {
  // Ready
  AllReplicasReady: "All pods are ready",
  ScaledToZero: "Scaled to zero",
  Pending: "Not installed yet",
  Deploying: "Applying a change",
  Invalid: "Invalid settings",
  ReleaseFailed: "Release failed",
  ForeignRelease: "Name taken by a foreign Helm release",
  ImagePullFailed: "Container image pull failed",
  PodsFailing: "Pods are failing",
  Unschedulable: "Pods cannot be scheduled",
  ProgressDeadlineExceeded: "Rollout timed out",
  PodsRefused: "Pods refused by the cluster",
  ReplicasUnavailable: "Pods were lost",
  AutoscalingSuspended: "Autoscaling is suspended",
  Terminating: "Being deleted",
  Paused: "Reconciliation is paused",
  // DomainsReady
  Routed: "All hosts are routed",
  NotRouted: "Hosts are not routed yet",
  AwaitingGateway: "Waiting for a Gateway",
  IngressClassMissing: "IngressClass does not exist",
  CertificateMissing: "Secret with the certificate missing",
  AwaitingAddress: "Waiting for an address of the Ingress",
  RouteRefused: "Route refused by a Gateway",
  RouteUnresolved: "Route has an unresolved reference",
  DomainConflict: "Host claimed by another Darkroom",
  // CredentialsReady
  SecretFound: "Secret found",
  SecretMissing: "Secret missing",
  SecretKeyMissing: "Key missing in the Secret",
  // SourceReady
  ImageServed: "Image served",
  NoProbe: "No image to check with",
  ProbeOff: "Image checks are turned off",
  ProbePending: "Waiting for the first image",
  ImageUnprocessable: "Image not fetched or not readable",
  SourceDenied: "Access denied by the source",
  ImageNotFound: "Image not found",
  SourceRedirected: "Redirected by the source",
  SourceRejected: "Request rejected by the source",
  SourceFailing: "Source or Darkroom is failing",
  SourceTimeout: "Source did not respond in time",
  Unreachable: "Pods cannot be reached",
  NotAnImage: "Response is not an image",
  NewPodsNotServing: "New pods do not serve images",
  ProbeForbidden: "Image check is not permitted",
  ProbeInvalid: "Path of the image is invalid",
  // Conditions of the Helm reconciler
  ForeignWriter: "Another writer changes an object",
  RolloutLimit: "Waiting for rollouts of other Darkrooms",
  InstallSuccessful: "Release installed",
  UpgradeSuccessful: "Release upgraded",
  UninstallSuccessful: "Release uninstalled",
  PauseReconcileAnnotationTrue: "Paused by an annotation",
  ErrorGettingClient: "No client for the cluster",
  ErrorGettingValues: "Invalid settings",
  ErrorGettingReleaseState: "Stored release cannot be read",
  InstallError: "Install failed",
  UpgradeError: "Upgrade failed",
  ReconcileError: "Objects cannot be applied",
  UninstallError: "Uninstall failed",
  // Events
  Installed: "Installed",
  Upgraded: "Upgraded",
  Repaired: "Repaired",
  Contested: "Changed by another writer",
  StrayObjects: "Objects left by another Helm client",
  ClaimRefused: "Claim refused",
  Recovered: "Interrupted release retried",
  Orphaned: "Objects kept",
  Uninstalled: "Uninstalled",
  Refused: "Invalid settings",
};

/** A reason in words. Unknown reasons are split into words. */
export function describeReason(reason: string): string {
  const words = Object.hasOwn(reasonWords, reason) ? reasonWords[reason] : undefined;
  return words ?? separate(reason);
}

/** Splits a CamelCase word: CrashLoopBackOff becomes "Crash loop back off". */
export function separate(word: string): string {
  const spaced = word.replace(/([a-z0-9])([A-Z])/g, "$1 $2").replace(/([A-Z]+)([A-Z][a-z])/g, "$1 $2");
  return spaced.charAt(0) + spaced.slice(1).replace(/\b[A-Z][a-z]/g, (pair) => pair.toLowerCase());
}
