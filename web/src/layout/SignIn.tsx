import {
  ActionGroup,
  Alert,
  Button,
  Card,
  CardBody,
  Content,
  Form,
  FormGroup,
  FormHelperText,
  HelperText,
  HelperTextItem,
  TextInput,
  Title,
} from "@patternfly/react-core";
import { useState, type SyntheticEvent } from "react";
import { api } from "../api/client";
import { asProblem, type Problem } from "../api/problem";
import { Logo } from "./Logo";
import { ThemeMenu } from "./ThemeMenu";

/** The form that hands a token to the server, which keeps it in a cookie that no script reads. */
export function SignIn({ expired, onSignedIn }: { expired: boolean; onSignedIn: () => Promise<void> }) {
  const [token, setToken] = useState("");
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const submit = async (event: SyntheticEvent) => {
    event.preventDefault();
    setBusy(true);
    setProblem(undefined);
    try {
      await api.signIn(token.trim());
      setToken("");
      await onSignedIn();
    } catch (thrown) {
      setProblem(asProblem(thrown));
    } finally {
      setBusy(false);
    }
  };
  return (
    <main className="dr-signin">
      <Card isLarge className="dr-signin__card">
        <CardBody>
          <div className="dr-signin__head">
            <Logo />
            <Title headingLevel="h1">Sign in to Darkrooms</Title>
            <ThemeMenu />
          </div>
          <Form onSubmit={(event) => void submit(event)}>
            {expired && !problem && <Alert component="p" isInline variant="info" title="Your token is no longer valid: sign in anew" />}
            {problem && (
              <Alert component="p" isInline variant="danger" title="That did not work" role="alert">
                {problem.message}
              </Alert>
            )}
            <FormGroup label="Token" fieldId="token" isRequired>
              <TextInput
                id="token"
                type="password"
                autoComplete="current-password"
                isRequired
                value={token}
                onChange={(_, value) => setToken(value)}
                aria-describedby="token-help"
              />
              <FormHelperText>
                <HelperText>
                  <HelperTextItem id="token-help">A bearer token that the cluster accepts</HelperTextItem>
                </HelperText>
              </FormHelperText>
            </FormGroup>
            <ActionGroup>
              <Button type="submit" isBlock isDisabled={busy || token.trim() === ""} isLoading={busy}>
                Sign in
              </Button>
            </ActionGroup>
          </Form>
          <Content component="small" className="dr-signin__foot">
            For a service account: <code>kubectl -n NAMESPACE create token NAME</code>
          </Content>
        </CardBody>
      </Card>
    </main>
  );
}
