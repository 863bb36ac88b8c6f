import { msg, t, type Message } from "./t";
/** Every reason of a condition or event that the API can report; words.test.ts compares the list with the operator. */
export const reasonWords: Record<string, Message> = {
  // Ready
  AllReplicasReady: msg("All pods are ready"),
  ScaledToZero: msg("Scaled to zero"),
  Pending: msg("Not installed yet"),
  Deploying: msg("Applying a change"),
  Invalid: msg("Invalid settings"),
  ReleaseFailed: msg("Release failed"),
  ForeignRelease: msg("Name taken by a foreign Helm release"),
  ImagePullFailed: msg("Container image pull failed"),
  PodsFailing: msg("Pods are failing"),
  Unschedulable: msg("Pods cannot be scheduled"),
  ProgressDeadlineExceeded: msg("Roll-out timed out"),
  PodsRefused: msg("Pods refused by the cluster"),
  ReplicasUnavailable: msg("Pods were lost"),
  AutoscalingSuspended: msg("Autoscaling is suspended"),
  Terminating: msg("Being deleted"),
  Paused: msg("Reconciliation is paused"),
  // DomainsReady
  Routed: msg("All hosts are routed"),
  NotRouted: msg("Hosts are not routed yet"),
  AwaitingGateway: msg("Waiting for a Gateway"),
  RouteRefused: msg("Route refused by a Gateway"),
  RouteUnresolved: msg("Route has an unresolved reference"),
  DomainConflict: msg("Host claimed by another Darkroom"),
  // CredentialsReady
  SecretFound: msg("Secret found"),
  SecretMissing: msg("Secret missing"),
  SecretKeyMissing: msg("Key missing in the Secret"),
  // SourceReady and Preflight
  ImageServed: msg("Image served"),
  NoProbe: msg("No image to check with"),
  ProbeOff: msg("Image checks are turned off"),
  ProbePending: msg("Waiting for the first image"),
  ImageUnprocessable: msg("Image not fetched or not readable"),
  SourceDenied: msg("Access denied by the source"),
  ImageNotFound: msg("Image not found"),
  SourceRedirected: msg("Redirected by the source"),
  SourceRejected: msg("Request rejected by the source"),
  SourceFailing: msg("Source or Darkroom is failing"),
  SourceTimeout: msg("Source did not answer in time"),
  Unreachable: msg("Pods cannot be reached"),
  NotAnImage: msg("Response is not an image"),
  WrongSize: msg("Image has the wrong size"),
  ProbeForbidden: msg("Image check is not permitted"),
  ProbeInvalid: msg("Path of the image is invalid"),
  PreflightWaiting: msg("Waiting for the preflight check"),
  PreflightRunning: msg("Preflight check is running"),
  PreflightFailed: msg("Preflight pod did not start"),
  // Conditions of the Helm reconciler
  ForeignWriter: msg("Another writer changes an object"),
  InstallSuccessful: msg("Release installed"),
  UpgradeSuccessful: msg("Release upgraded"),
  UninstallSuccessful: msg("Release uninstalled"),
  PauseReconcileAnnotationTrue: msg("Paused by an annotation"),
  ErrorGettingClient: msg("No client for the cluster"),
  ErrorGettingValues: msg("Invalid settings"),
  ErrorGettingReleaseState: msg("Stored release cannot be read"),
  InstallError: msg("Install failed"),
  UpgradeError: msg("Upgrade failed"),
  ReconcileError: msg("Objects cannot be applied"),
  UninstallError: msg("Uninstall failed"),
  // Events
  Installed: msg("Installed"),
  Upgraded: msg("Upgraded"),
  Repaired: msg("Repaired"),
  Contested: msg("Changed by another writer"),
  Adopted: msg("Release adopted"),
  OtherInstallation: msg("Managed by another installation"),
  Recovered: msg("Interrupted release retried"),
  Uninstalled: msg("Uninstalled"),
  HeldBack: msg("Change held back"),
  Refused: msg("Invalid settings"),
  DomainLost: msg("Host lost to another Darkroom"),
  DomainGained: msg("Host gained from another Darkroom"),
};

/** A reason in words; those of Kubernetes and of later operators are split. */
export function describeReason(reason: string): string {
  const words = Object.hasOwn(reasonWords, reason) ? reasonWords[reason] : undefined;
  return words ? t(words) : separate(reason);
}

/** Splits a CamelCase word: CrashLoopBackOff becomes "Crash loop back off". */
export function separate(word: string): string {
  const spaced = word.replace(/([a-z0-9])([A-Z])/g, "$1 $2").replace(/([A-Z]+)([A-Z][a-z])/g, "$1 $2");
  return spaced.charAt(0) + spaced.slice(1).replace(/\b[A-Z][a-z]/g, (pair) => pair.toLowerCase());
}
