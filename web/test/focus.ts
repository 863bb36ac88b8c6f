import { waitFor } from "@testing-library/react";
import { expect } from "vitest";

/** Waits until an element has the focus, which effects move after the element is shown. */
export async function hasFocus(element: () => Element | null): Promise<void> {
  await waitFor(() => expect(document.activeElement).toBe(element()));
}
