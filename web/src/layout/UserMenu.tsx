import { Divider, Dropdown, DropdownGroup, DropdownItem, DropdownList, MenuToggle } from "@patternfly/react-core";
import UserIcon from "@patternfly/react-icons/dist/esm/icons/user-icon";
import { useState } from "react";
import { api } from "../api/client";
import type { Who } from "../api/types";
import { t } from "../words/t";

/** Names of service accounts are long, and differ at their end. */
export const shortName = (username: string): string => username.slice(username.lastIndexOf(":") + 1);

export function UserMenu({ who, onShortcuts, onSignOut }: { who: Who; onShortcuts: () => void; onSignOut: () => void }) {
  const [open, setOpen] = useState(false);
  const signOut = async () => {
    try {
      await api.signOut();
    } finally {
      onSignOut();
      if (who.signOutUrl) {
        location.assign(who.signOutUrl);
      }
    }
  };
  return (
    <Dropdown
      isOpen={open}
      onOpenChange={setOpen}
      popperProps={{ position: "right" }}
      toggle={(ref) => (
        <MenuToggle
          ref={ref}
          variant="plainText"
          isExpanded={open}
          onClick={() => setOpen(!open)}
          icon={<UserIcon />}
          aria-label={t("Signed in as {user}", { user: who.username })}
        >
          <span className="dr-username">{shortName(who.username)}</span>
        </MenuToggle>
      )}
    >
      <DropdownGroup label={t("Signed in as")} labelHeadingLevel="h2">
        <p className="dr-who">{who.username}</p>
        {who.auth === "kubeconfig" && <p className="dr-who dr-quiet">{t("from the kubeconfig of the server")}</p>}
      </DropdownGroup>
      <Divider />
      <DropdownList>
        <DropdownItem
          onClick={() => {
            setOpen(false);
            onShortcuts();
          }}
        >
          {t("Keyboard shortcuts")}
        </DropdownItem>
        {who.auth !== "kubeconfig" && <DropdownItem onClick={() => void signOut()}>{t("Sign out")}</DropdownItem>}
      </DropdownList>
    </Dropdown>
  );
}
