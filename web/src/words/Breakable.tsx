import { Fragment } from "react";

/** A host or URL that breaks between its parts rather than inside of words. */
export const Breakable = ({ text }: { text: string }) =>
  text.split(/(?<=[^/])(?=[./?&])/).map((part, at) => (
    <Fragment key={at}>
      {at > 0 && <wbr />}
      {part}
    </Fragment>
  ));
