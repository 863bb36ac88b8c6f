import { useEffect, useState } from "react";

/** A URL of an image in memory, for as long as it is shown. */
export function useImageUrl(image: Blob | undefined): string | undefined {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    const made = image && URL.createObjectURL(image);
    // eslint-disable-next-line react-hooks/set-state-in-effect -- the URL must be revoked, which rendering cannot do
    setUrl(made);
    return () => {
      if (made) {
        URL.revokeObjectURL(made);
      }
    };
  }, [image]);
  return url;
}
