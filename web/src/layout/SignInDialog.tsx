import { Button, ModalBody, ModalFooter, ModalHeader } from "@patternfly/react-core";
import { Dialog } from "./Dialog";
import { IssuerSignIn, useWaysToSignIn } from "./OIDC";
import { SignInForm } from "./SignIn";

/** Sign-in above a form whose session has expired: what was typed stays below it. */
export default function SignInDialog({ onSignedIn, onLeave }: { onSignedIn: () => Promise<void>; onLeave: () => void }) {
  const ways = useWaysToSignIn();
  return (
    <Dialog variant="small" aria-labelledby="sign-in-title" aria-describedby="sign-in-text">
      <ModalHeader title="Your session has expired" labelId="sign-in-title" description="Sign in again to continue. Your changes are kept." descriptorId="sign-in-text" />
      <ModalBody>
        <IssuerSignIn ways={ways} />
        <SignInForm onSignedIn={onSignedIn} />
      </ModalBody>
      <ModalFooter>
        <Button variant="link" onClick={onLeave}>
          Leave the form
        </Button>
      </ModalFooter>
    </Dialog>
  );
}
