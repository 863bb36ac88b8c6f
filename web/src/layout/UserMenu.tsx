import { Divider, DropdownGroup, DropdownItem } from "@patternfly/react-core";
import UserIcon from "@patternfly/react-icons/dist/esm/icons/user-icon";
import { api } from "../api/client";
import { asProblem } from "../api/problem";
import type { Who } from "../api/types";
import { Menu } from "./Menu";
import { toast } from "./toasts";

/** Names of ServiceAccounts are long, and differ at the end. */
export const shortName = (username: string): string => username.slice(username.lastIndexOf(":") + 1);

export function UserMenu({ who, onSignOut }: { who: Who; onSignOut: () => void }) {
  const signOut = async () => {
    try {
      await api.signOut();
    } catch (thrown) {
      toast(`You are still signed in: ${asProblem(thrown).message}`, undefined, "danger");
      return;
    }
    onSignOut();
    if (who.signOutUrl) {
      location.assign(who.signOutUrl);
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
