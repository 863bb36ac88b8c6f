import { createContext, use } from "react";
import type { ServerSettings } from "./api/types";

/** The server's settings, read at sign-in: base domain, default release, namespaces that are served. */
export const SettingsContext = createContext<ServerSettings>({ baseDomain: "", darkroomVersion: "", namespaces: [], version: "" });

export const useSettings = (): ServerSettings => use(SettingsContext);
