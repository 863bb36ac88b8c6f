import { useEffect, useState, type RefObject } from "react";

/** Whether an element is in view; it does not become hidden again if it counts once. */
export function useSeen(element: RefObject<Element | null>, { once = false } = {}): boolean {
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    const observer = new IntersectionObserver((entries) => {
      const isIntersecting = entries.at(-1)?.isIntersecting === true;
      setSeen(isIntersecting);
      if (isIntersecting && once) {
        observer.disconnect();
      }
    });
    if (element.current) {
      observer.observe(element.current);
    }
    return () => observer.disconnect();
  }, [element, once]);
  return seen;
}
