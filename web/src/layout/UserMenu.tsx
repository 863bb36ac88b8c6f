import { Divider, Dropdown, DropdownGroup, DropdownItem, DropdownList, MenuToggle } from "@patternfly/react-core";
import UserIcon from "@patternfly/react-icons/dist/esm/icons/user-icon";
import { useState } from "react";
import { api } from "../api/client";
import type { Who } from "../api/types";

/** Service accounts and users of certificates have long names: their end tells most. */
export const shortName = (username: string): string => username.slice(username.lastIndexOf(":") + 1);

export function UserMenu({ who, onSignOut }: { who: Who; onSignOut: () => void }) {
  const [open, setOpen] = useState(false);
  const signOut = async () => {
    try {
      await api.signOut();
    } finally {
      onSignOut();
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
          aria-label={`You are ${who.username}`}
        >
          <span className="dr-username">{shortName(who.username)}</span>
        </MenuToggle>
      )}
    >
      <DropdownGroup label="You are" labelHeadingLevel="h2">
        <p className="dr-who">{who.username}</p>
        {who.auth === "kubeconfig" && <p className="dr-who dr-quiet">by the kubeconfig of this machine</p>}
      </DropdownGroup>
      <Divider />
      <DropdownList>
        <DropdownItem to="/docs">The API</DropdownItem>
        {who.auth === "token" && <DropdownItem onClick={() => void signOut()}>Sign out</DropdownItem>}
      </DropdownList>
    </Dropdown>
  );
}
