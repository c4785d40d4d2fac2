/** The settings for signing in to the console elsewhere. */
import * as SettingForm from "./SettingForm.ts"
import { optional, setting } from "./SettingForm.ts"

export const SIGN_IN_SETTINGS = {
  consoleProxyHeader: optional(
    {
      env: "CABINET_CONSOLE_PROXY_HEADER",
      flag: "console-proxy-header",
      value: "NAME",
      about: "Header in which a proxy names the person it has signed in, such as Remote-User; default: none",
    },
    SettingForm.personHeader,
  ),
  consoleProxies: setting(
    {
      env: "CABINET_CONSOLE_PROXIES",
      flag: "console-proxies",
      value: "NETWORKS",
      about: "Proxies that this header is accepted from",
    },
    SettingForm.networks,
    "",
  ),
  consoleProxyRole: setting(
    {
      env: "CABINET_CONSOLE_PROXY_ROLE",
      flag: "console-proxy-role",
      value: "ROLE",
      about: "Role of a person whom the proxy names for the first time",
    },
    SettingForm.oneOf("owner", "editor", "viewer"),
    "viewer",
  ),
  oidcIssuer: optional(
    {
      env: "CABINET_OIDC_ISSUER",
      flag: "oidc-issuer",
      value: "URL",
      about: "OpenID Connect issuer that people sign in to the console with; default: none",
    },
    SettingForm.issuer,
  ),
  oidcClientId: optional(
    { env: "CABINET_OIDC_CLIENT_ID", flag: "oidc-client-id", value: "ID", about: "Client id at the issuer" },
    SettingForm.text,
  ),
  oidcClientSecret: optional(
    {
      env: "CABINET_OIDC_CLIENT_SECRET",
      flag: "oidc-client-secret",
      value: "SECRET",
      about: "Client secret at the issuer; default: a public client",
      secret: true,
    },
    SettingForm.text,
  ),
  oidcScope: setting(
    { env: "CABINET_OIDC_SCOPE", flag: "oidc-scope", value: "WORDS", about: "Scopes to request, separated by spaces" },
    SettingForm.scope,
    "openid profile",
  ),
  oidcRoleClaim: setting(
    {
      env: "CABINET_OIDC_ROLE_CLAIM",
      flag: "oidc-role-claim",
      value: "NAME",
      about: "Claim with a person's roles; dots select members of objects, as in realm_access.roles",
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
      about: "Role of people for whom the claim gives none, at their first sign-in; default: they cannot sign in",
    },
    SettingForm.oneOf("owner", "editor", "viewer"),
  ),
  oidcNetworks: setting(
    {
      env: "CABINET_OIDC_NETWORKS",
      flag: "oidc-networks",
      value: "NETWORKS",
      about: "Private networks that the issuer may be in",
    },
    SettingForm.networks,
    "",
  ),
} as const
