import { Bullseye, Spinner } from "@patternfly/react-core";
import { lazy, Suspense } from "react";
import type { Darkroom } from "../api/types";

const YamlText = lazy(() => import("./YamlText"));

export function Yaml({ darkroom }: { darkroom: Darkroom }) {
  return (
    <Suspense
      fallback={
        <Bullseye>
          <Spinner aria-label="Loading" />
        </Bullseye>
      }
    >
      <YamlText darkroom={darkroom} />
    </Suspense>
  );
}
