import { Alert, Button, Divider } from "@patternfly/react-core";
import { api } from "../api/client";
import type { WaysToSignIn } from "../api/types";
import { useLoaded } from "../useLoaded";

/** Reasons for a failed sign-in at the issuer. The server sets them in the URL parameter signIn. */
const reasons = {
  expired: "The sign-in took too long, or began in another browser. Try again.",
  refused: "The issuer refused the sign-in, or its response was invalid. If this happens again, ask an administrator to check the log of the server.",
  notAllowed: "Your account cannot be mapped to a user of this cluster. Ask an administrator.",
  notTrusted: "The cluster does not accept tokens of this issuer. Ask an administrator.",
  unavailable: "The issuer or the cluster does not respond. Try again later.",
};
const reasonOf = (name: string): string => (Object.hasOwn(reasons, name) ? reasons[name as keyof typeof reasons] : reasons.unavailable);

/** The ways to sign in; empty until the server responds. */
export const useWaysToSignIn = (): WaysToSignIn | undefined => useLoaded("ways to sign in", api.waysToSignIn).value;

/** Signs in at the issuer, and returns to this view. Tokens never reach the page. */
export function IssuerSignIn({ ways }: { ways: WaysToSignIn | undefined }) {
  const reason = new URLSearchParams(location.search).get("signIn");
  if (!ways?.issuer) {
    return null;
  }
  const target = `/auth/login?${new URLSearchParams({ return: location.pathname + (reason === null ? location.search : "") }).toString()}`;
  return (
    <>
      {reason !== null && (
        <Alert component="p" isInline variant="danger" title="Sign-in failed" role="alert" className="dr-signin__note">
          {reasonOf(reason)}
        </Alert>
      )}
      <Button component="a" href={target} isBlock>
        Sign in with {ways.issuer}
      </Button>
      <Divider className="dr-signin__or" />
    </>
  );
}
