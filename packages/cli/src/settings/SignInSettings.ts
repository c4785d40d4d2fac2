/** The settings by which somebody is signed in to the console elsewhere. */
import { optional, setting } from "./Setting.ts"
import * as SettingForm from "./SettingForm.ts"

export const SIGN_IN_SETTINGS = {
  consoleProxyHeader: optional(
    {
      env: "CABINET_CONSOLE_PROXY_HEADER",
      flag: "console-proxy-header",
      value: "NAME",
      about:
        "Header in which a proxy names whom it has signed in, such as Remote-User; default: nobody is signed in by one",
    },
    SettingForm.personHeader,
  ),
  consoleProxies: setting(
    {
      env: "CABINET_CONSOLE_PROXIES",
      flag: "console-proxies",
      value: "NETWORKS",
      about: "Proxies that this header is believed of",
    },
    SettingForm.networks,
    "",
  ),
  consoleProxyRole: setting(
    {
      env: "CABINET_CONSOLE_PROXY_ROLE",
      flag: "console-proxy-role",
      value: "ROLE",
      about: "Role of whom the proxy names for the first time",
    },
    SettingForm.oneOf("owner", "editor", "viewer"),
    "viewer",
  ),
} as const
