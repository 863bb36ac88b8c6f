import { Divider, Dropdown, DropdownGroup, DropdownItem, DropdownList, MenuToggle } from "@patternfly/react-core";
import UserIcon from "@patternfly/react-icons/dist/esm/icons/user-icon";
import { useState } from "react";
import { api } from "../api/client";
import type { Who } from "../api/types";

/** Names of service accounts are long, and differ at their end. */
export const shortName = (username: string): string => username.slice(username.lastIndexOf(":") + 1);

export function UserMenu({ who, onSignOut }: { who: Who; onSignOut: () => void }) {
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
          aria-label={`Signed in as ${who.username}`}
        >
          <span className="dr-username">{shortName(who.username)}</span>
        </MenuToggle>
      )}
    >
      <DropdownGroup label="Signed in as" labelHeadingLevel="h2">
        <p className="dr-who">{who.username}</p>
        {who.auth === "kubeconfig" && <p className="dr-who dr-quiet">from the kubeconfig of the server</p>}
      </DropdownGroup>
      {who.auth !== "kubeconfig" && (
        <>
          <Divider />
          <DropdownList>
            <DropdownItem onClick={() => void signOut()}>Sign out</DropdownItem>
          </DropdownList>
        </>
      )}
    </Dropdown>
  );
}
