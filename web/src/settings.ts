import { createContext, use } from "react";
import type { ServerSettings } from "./api/types";

/** The server's settings, and the name of the signed-in user. */
export interface Settings extends ServerSettings {
  username: string;
}

export const SettingsContext = createContext<Settings>({ cluster: "", baseDomain: "", darkroomVersion: "", namespaces: [], version: "", username: "" });

export const useSettings = (): Settings => use(SettingsContext);
