import { Bullseye, Spinner } from "@patternfly/react-core";

/** In the place of what is loading. */
export const Loading = () => (
  <Bullseye>
    <Spinner aria-label="Loading" />
  </Bullseye>
);
