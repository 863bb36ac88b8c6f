import { ActionGroup, Alert, AlertActionLink, Button, Form, Label, PageSection, Title } from "@patternfly/react-core";
import { useState } from "react";
import { api } from "../api/client";
import type { Explanation, Hop, Question } from "../api/types";
import { Crumbs } from "../layout/Crumbs";
import { PlainField } from "../layout/PlainField";
import { linkTo, paths } from "../router";
import { useLoaded } from "../useLoaded";
import { bytes } from "../words/age";
import type { Tone } from "../words/conditions";
import { milliseconds, sentence } from "../words/format";
import { ToneIcon } from "../words/ToneIcon";

/** Explains the URL of an image. The URL may contain a signature, so it never becomes part of the page's address. */
export default function ExplainView() {
  const [url, setUrl] = useState(() => new URLSearchParams(location.search).get("url") ?? "");
  const [status, setStatus] = useState("");
  /** All questions; the last one is shown. A list, so that the same question can be asked twice. */
  const [asked, setAsked] = useState<Question[]>([]);
  const question = asked.at(-1);
  const { value, problem } = useLoaded(`explain ${asked.length}`, (signal) => api.explain(question ?? { url }, signal), { enabled: question !== undefined, once: true });
  return (
    <>
      <Crumbs here="Explain a URL" />
      <PageSection>
        <Title headingLevel="h1">Explain a URL</Title>
        <p className="dr-quiet">Why an image is served or not: each hop from the host to the source, and the one to blame.</p>
      </PageSection>
      <PageSection isFilled aria-label="Explanation">
        <div className="dr-stack">
          <Form
            isWidthLimited
            onSubmit={(event) => {
              event.preventDefault();
              setAsked([...asked, { url, ...(status ? { status: Number(status) } : {}) }]);
            }}
          >
            <PlainField id="explain-url" label="URL of an image" isRequired value={url} maxLength={4096} placeholder="https://photos.example.com/cat.jpg?w=300" onChange={setUrl} />
            <PlainField id="explain-status" label="Status that the client got, if it is known" className="dr-status" type="number" min={100} max={599} value={status} placeholder="404" onChange={setStatus} />
            <ActionGroup>
              <Button type="submit" variant="primary" isDisabled={!url.trim()} isLoading={question !== undefined && !value && !problem}>
                Explain
              </Button>
            </ActionGroup>
          </Form>
          <div role="status">
            {problem && <Alert isInline variant="danger" component="h2" title={[problem.message, ...problem.errors.map(({ message }) => message)].join(": ")} />}
            {value && <Answer of={value} />}
          </div>
        </div>
      </PageSection>
    </>
  );
}

function Answer({ of: { url, verdict, remedy, blame, darkroom, field, hops } }: { of: Explanation }) {
  const blamed = hops.findIndex(({ state }) => state === "failed");
  const isServed = hops.some(({ status = 0 }) => status === 200);
  return (
    <div className="dr-stack">
      <Alert
        isInline
        component="h2"
        variant={blame ? "danger" : isServed ? "success" : "info"}
        title={sentence(`${verdict}.`)}
        actionLinks={
          darkroom && (
            <>
              {field && <AlertActionLink {...linkTo(paths.edit(darkroom, field))}>Edit {field}</AlertActionLink>}
              <AlertActionLink {...linkTo(paths.detail(darkroom))}>Open {darkroom.name}</AlertActionLink>
            </>
          )
        }
      >
        {remedy && !isServed && sentence(`${remedy}.`)}
      </Alert>
      {remedy && isServed && <p className="dr-quiet">{sentence(`${remedy}.`)}</p>}
      <code className="dr-break">{url}</code>
      <ol className="dr-hops" aria-label="Hops">
        {hops.map((hop, i) => (
          <HopItem key={`${hop.kind} ${hop.name}`} hop={hop} isBlamed={i === blamed} />
        ))}
      </ol>
    </div>
  );
}

const tones: Record<Hop["state"], Tone | undefined> = { ok: "good", failed: "bad", unknown: "neutral", notAsked: undefined };

function HopItem({ hop: { kind, name, state, detail, status, milliseconds: took, bytes: size }, isBlamed }: { hop: Hop; isBlamed: boolean }) {
  const tone = tones[state];
  const figures = [status, took !== undefined && milliseconds(took), size !== undefined && bytes(size)].filter(Boolean).join(" · ");
  return (
    <li className="dr-hop">
      <span className="dr-row">
        {tone ? <ToneIcon tone={tone} /> : <span aria-hidden="true">·</span>}
        <strong className="dr-kind">{kind}</strong>
        <span className="dr-break">{name}</span>
        {isBlamed && <Label color="red" isCompact>To blame</Label>}
      </span>
      <span className="dr-quiet dr-break">{sentence([figures, state === "notAsked" ? "not requested" : isBlamed ? undefined : detail].filter(Boolean).join(" · "))}</span>
    </li>
  );
}
