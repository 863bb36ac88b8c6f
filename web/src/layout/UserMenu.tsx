import { Divider, DropdownGroup, DropdownItem } from "@patternfly/react-core";
import UserIcon from "@patternfly/react-icons/dist/esm/icons/user-icon";
import { api } from "../api/client";
import type { Who } from "../api/types";
import { Menu } from "./Menu";

/** Names of service accounts are long, and differ at their end. */
export const shortName = (username: string): string => username.slice(username.lastIndexOf(":") + 1);

export function UserMenu({ who, onSignOut }: { who: Who; onSignOut: () => void }) {
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
    <Menu
      toggle={{
        variant: "plainText",
        icon: <UserIcon />,
        "aria-label": `Signed in as ${who.username}`,
        children: <span className="dr-username">{shortName(who.username)}</span>,
      }}
      head={
        <DropdownGroup label="Signed in as" labelHeadingLevel="h2">
          <p className="dr-who">{who.username}</p>
          {who.auth === "kubeconfig" ? <p className="dr-who dr-quiet">from the kubeconfig of the server</p> : <Divider />}
        </DropdownGroup>
      }
    >
      {who.auth !== "kubeconfig" && <DropdownItem onClick={() => void signOut()}>Sign out</DropdownItem>}
    </Menu>
  );
}
