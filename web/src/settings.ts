import { createContext, use } from "react";
import type { ServerSettings } from "./api/types";

export const SettingsContext = createContext<ServerSettings>({ cluster: "", baseDomain: "", darkroomVersion: "", namespaces: [], version: "" });

export const useSettings = (): ServerSettings => use(SettingsContext);
