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
  oidcIssuer: optional(
    {
      env: "CABINET_OIDC_ISSUER",
      flag: "oidc-issuer",
      value: "URL",
      about: "Issuer by which people sign in to the console (OpenID Connect); default: none",
    },
    SettingForm.issuer,
  ),
  oidcClientId: optional(
    { env: "CABINET_OIDC_CLIENT_ID", flag: "oidc-client-id", value: "ID", about: "The cabinet's name at the issuer" },
    SettingForm.text,
  ),
  oidcClientSecret: optional(
    {
      env: "CABINET_OIDC_CLIENT_SECRET",
      flag: "oidc-client-secret",
      value: "SECRET",
      about: "The cabinet's secret at the issuer; default: a public client",
      secret: true,
    },
    SettingForm.text,
  ),
  oidcScope: setting(
    { env: "CABINET_OIDC_SCOPE", flag: "oidc-scope", value: "WORDS", about: "What the issuer is asked for" },
    SettingForm.scope,
    "openid profile",
  ),
  oidcRoleClaim: setting(
    {
      env: "CABINET_OIDC_ROLE_CLAIM",
      flag: "oidc-role-claim",
      value: "NAME",
      about: "Claim that holds somebody's roles; dots lead into objects, as in realm_access.roles",
    },
    SettingForm.text,
    "roles",
  ),
  oidcRoles: setting(
    {
      env: "CABINET_OIDC_ROLES",
      flag: "oidc-roles",
      value: "LIST",
      about: "Roles by values of that claim, such as admins=owner,staff=viewer",
    },
    SettingForm.roles,
    "owner=owner,editor=editor,viewer=viewer",
  ),
  oidcRole: optional(
    {
      env: "CABINET_OIDC_ROLE",
      flag: "oidc-role",
      value: "ROLE",
      about: "Role of those to whom the claim gives none, at their first sign-in; default: they are not let in",
    },
    SettingForm.oneOf("owner", "editor", "viewer"),
  ),
  oidcNetworks: setting(
    {
      env: "CABINET_OIDC_NETWORKS",
      flag: "oidc-networks",
      value: "NETWORKS",
      about: "Private networks in which the issuer may be",
    },
    SettingForm.networks,
    "",
  ),
} as const
