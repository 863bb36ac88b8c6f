import {
  Alert,
  Masthead,
  MastheadBrand,
  MastheadContent,
  MastheadLogo,
  MastheadMain,
  Page,
  PageSection,
  SkipToContent,
  Toolbar,
  ToolbarContent,
  ToolbarGroup,
  ToolbarItem,
} from "@patternfly/react-core";
import type { ReactNode } from "react";
import type { Who } from "../api/types";
import { useSnapshot } from "../live/useLive";
import { followLink, paths } from "../router";
import { Logo } from "./Logo";
import { ThemeMenu } from "./ThemeMenu";
import { UserMenu } from "./UserMenu";

/** What is around every view: head, and a banner while the connection is lost. */
export function Frame({ who, onSignOut, children }: { who: Who; onSignOut: () => void; children: ReactNode }) {
  const { connection, synced } = useSnapshot();
  const masthead = (
    <Masthead display={{ default: "inline" }}>
      <MastheadMain>
        <MastheadBrand>
          <MastheadLogo href={paths.list} onClick={(event) => followLink(event, paths.list)} className="dr-brand">
            <Logo />
            <span>Darkrooms</span>
          </MastheadLogo>
        </MastheadBrand>
      </MastheadMain>
      <MastheadContent>
        <Toolbar isFullHeight isStatic>
          <ToolbarContent>
            <ToolbarGroup align={{ default: "alignEnd" }} gap={{ default: "gapXs" }}>
              <ToolbarItem>
                <ThemeMenu />
              </ToolbarItem>
              <ToolbarItem>
                <UserMenu who={who} onSignOut={onSignOut} />
              </ToolbarItem>
            </ToolbarGroup>
          </ToolbarContent>
        </Toolbar>
      </MastheadContent>
    </Masthead>
  );
  return (
    <Page masthead={masthead} mainContainerId="main" skipToContent={<SkipToContent href="#main">Skip to content</SkipToContent>}>
      <div role="status" aria-live="polite">
        {connection === "lost" && synced && (
          <PageSection className="dr-banner" variant="secondary">
            <Alert component="p" isInline variant="warning" title="The connection to the server is lost">
              What you see may be out of date. The page keeps trying, and catches up by itself.
            </Alert>
          </PageSection>
        )}
      </div>
      {children}
    </Page>
  );
}
