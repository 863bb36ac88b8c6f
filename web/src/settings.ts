import { createContext, use } from "react";
import type { ServerSettings } from "./api/types";

/** The server's settings, read at sign-in: name of the cluster, base domain, default release, namespaces that are served. */
export const SettingsContext = createContext<ServerSettings>({ cluster: "", baseDomain: "", darkroomVersion: "", namespaces: [], version: "" });

export const useSettings = (): ServerSettings => use(SettingsContext);
