import { ActionGroup, Alert, Button, Card, CardBody, Content, Form, Title } from "@patternfly/react-core";
import { useState } from "react";
import { api } from "../api/client";
import { Logo } from "./Logo";
import { PlainField } from "./PlainField";
import { IssuerSignIn, useWaysToSignIn } from "./OIDC";
import { useSending } from "../useSending";

/** The sign-in view. */
export default function SignIn({ expired, onSignedIn }: { expired: boolean; onSignedIn: () => Promise<void> }) {
  const ways = useWaysToSignIn();
  return (
    <main className="dr-signin">
      <Card id="card-sign-in" isLarge className="dr-signin__card">
        <CardBody>
          <div className="dr-signin__head">
            <Logo />
            <Title headingLevel="h1">Sign in to Darkrooms</Title>
          </div>
          {ways?.cluster && (
            <p className="dr-signin__note">
              Cluster <strong>{ways.cluster}</strong>
            </p>
          )}
          {expired && <Alert component="p" isInline variant="info" title="Your session has expired. Sign in again." className="dr-signin__note" />}
          <IssuerSignIn ways={ways} />
          <SignInForm onSignedIn={onSignedIn} />
        </CardBody>
      </Card>
    </main>
  );
}

/** Sends a token to the server, which stores it in a cookie that scripts cannot read. */
export function SignInForm({ onSignedIn }: { onSignedIn: () => Promise<void> }) {
  const [token, setToken] = useState("");
  const { busy, problem, run } = useSending(async () => {
    await api.signIn(token.trim());
    await onSignedIn();
  });
  return (
    <>
      <Form onSubmit={run}>
        {problem && (
          <Alert component="p" isInline variant="danger" title="Sign-in failed" role="alert">
            {problem.message}
          </Alert>
        )}
        <PlainField id="token" label="Token" type="password" isRequired value={token} hint="A bearer token of the cluster" onChange={setToken} />
        <ActionGroup>
          <Button type="submit" isBlock isDisabled={busy || token.trim() === ""} isLoading={busy}>
            Sign in
          </Button>
        </ActionGroup>
      </Form>
      <Content component="small" className="dr-signin__foot">
        For a service account: <code>kubectl -n NAMESPACE create token NAME</code>
      </Content>
    </>
  );
}
