/** The logo: the iris of a camera. */
export function Logo() {
  return (
    <svg viewBox="0 0 32 32" width="30" height="30" aria-hidden="true" className="dr-logo">
      <circle cx="16" cy="16" r="12.5" fill="none" strokeWidth="3" className="dr-logo__ring" />
      <path
        className="dr-logo__blades"
        fill="none"
        strokeWidth="1.8"
        strokeLinecap="round"
        d="M16 3.5 22.2 14.7M28.4 14 16 14.2M22.1 26.9 16 16M9.9 5.1 10.1 17.4M3.6 18 16 17.8M9.8 26.9 16 16"
      />
    </svg>
  );
}
