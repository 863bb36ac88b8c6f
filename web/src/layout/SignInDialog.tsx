import { Button, ModalBody, ModalFooter, ModalHeader } from "@patternfly/react-core";
import { Dialog } from "./Dialog";
import { IssuerSignIn, useWaysToSignIn } from "./OIDC";
import { SignInForm } from "./SignIn";

/**
 * Keeps this dialog above one that was opened earlier: the earlier dialog hides others from screen readers when it
 * renders, and closes with Escape.
 */
function stayOnTop(part: HTMLElement | null) {
  const box = part?.closest(".pf-v6-c-backdrop");
  const observer = new MutationObserver(() => box?.removeAttribute("aria-hidden"));
  box?.addEventListener("keydown", (event) => (event as KeyboardEvent).key === "Escape" && event.stopPropagation());
  if (box) {
    observer.observe(box, { attributeFilter: ["aria-hidden"] });
  }
  return () => observer.disconnect();
}

/** Sign-in above a form after the session has expired. The form keeps its input. */
export default function SignInDialog({ onSignedIn, onLeave }: { onSignedIn: () => Promise<void>; onLeave: () => void }) {
  const ways = useWaysToSignIn();
  return (
    <Dialog variant="small" elementToFocus="#token" aria-labelledby="sign-in-title" aria-describedby="sign-in-text">
      <ModalHeader title="Your session has expired" labelId="sign-in-title" description="Sign in again to continue. Your changes are kept." descriptorId="sign-in-text" />
      <ModalBody>
        <div ref={stayOnTop}>
          <IssuerSignIn ways={ways} />
          <SignInForm onSignedIn={onSignedIn} />
        </div>
      </ModalBody>
      <ModalFooter>
        <Button variant="link" onClick={onLeave}>
          Leave without saving
        </Button>
      </ModalFooter>
    </Dialog>
  );
}
