/** How long to wait before each new attempt, in milliseconds. */
const pauses = [300, 1500];

/**
 * Repeats a read whose request got no answer. Browsers abort requests when the network of
 * the machine changes, and connections end when a server restarts.
 */
export async function retry<T>(attempt: () => Promise<T>, isFinal: (thrown: unknown) => boolean = () => false): Promise<T> {
  for (const pause of pauses) {
    try {
      return await attempt();
    } catch (thrown) {
      if (isFinal(thrown)) {
        throw thrown;
      }
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
  return attempt();
}
