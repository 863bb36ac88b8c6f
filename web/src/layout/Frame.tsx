import { Label, Masthead, MastheadBrand, MastheadContent, MastheadLogo, MastheadMain, SkipToContent } from "@patternfly/react-core";
import type { ReactNode } from "react";
import type { Who } from "../api/types";
import { useSettings } from "../settings";
import { linkTo, paths } from "../router";
import { Freshness } from "./Freshness";
import { Logo } from "./Logo";
import { Toasts } from "./toasts";
import { UserMenu } from "./UserMenu";

/**
 * The frame of every view: masthead, and whether the page is up to date. It is the
 * markup of PatternFly's Page, whose code brings a drawer that is not needed here.
 */
export function Frame({ who, onSignOut, children }: { who: Who; onSignOut: () => void; children: ReactNode }) {
  const { cluster } = useSettings();
  const masthead = (
    <Masthead display={{ default: "inline" }}>
      <MastheadMain>
        <MastheadBrand>
          <MastheadLogo {...linkTo(paths.list)} className="dr-brand">
            <Logo />
            <span>Darkrooms</span>
          </MastheadLogo>
        </MastheadBrand>
        {cluster && (
          <Label isCompact className="dr-cluster" textMaxWidth="20ch" aria-label={`Cluster ${cluster}`}>
            {cluster}
          </Label>
        )}
      </MastheadMain>
      <MastheadContent>
        <div className="dr-row dr-row--nowrap dr-masthead">
          <Freshness />
          <UserMenu who={who} onSignOut={onSignOut} />
        </div>
      </MastheadContent>
    </Masthead>
  );
  return (
    <div className="pf-v6-c-page pf-m-no-sidebar">
      <SkipToContent href="#main">Skip to content</SkipToContent>
      {masthead}
      <div className="pf-v6-c-page__main-container">
        <main id="main" className="pf-v6-c-page__main" tabIndex={-1}>
          {children}
        </main>
      </div>
      <Toasts />
    </div>
  );
}
