// @vitest-environment jsdom
import { act, renderHook, waitFor } from "@testing-library/react";
import { expect, test } from "vitest";
import { Problem } from "./api/problem";
import { useLoaded } from "./useLoaded";

test("data that is read repeatedly shows a failure until the next response", async () => {
  const requests: { resolve: (value: string) => void; reject: (reason: Problem) => void }[] = [];
  const load = () => new Promise<string>((resolve, reject) => requests.push({ resolve, reject }));
  const { result } = renderHook(() => useLoaded("something", load, { every: 5 }));
  for (const [i, status] of [403, 403, 404].entries()) {
    await waitFor(() => expect(requests).toHaveLength(i + 1));
    expect(result.current.problem?.status).toBe([undefined, 403, 403][i]);
    act(() => requests[i]?.reject(new Problem(status, "", "")));
    await waitFor(() => expect(result.current.problem?.status).toBe(status));
  }
  await waitFor(() => expect(requests).toHaveLength(4));
  act(() => requests[3]?.resolve("value"));
  await waitFor(() => expect(result.current).toMatchObject({ value: "value", problem: undefined }));
});
