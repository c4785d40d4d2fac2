/**
 * Who may do what: the one table of actions. HTTP endpoints check it before they act, and screens before they show a
 * button. An action that is missing here does not compile.
 */

/** Roles of people, who manage a cabinet. */
export const PERSON_ROLES = ["owner", "editor", "viewer"] as const
/** One of `PERSON_ROLES`. */
export type PersonRole = (typeof PERSON_ROLES)[number]

/** Roles of access tokens: those of people, `uploader` (files into sources) and `reader` (rows and the feed). */
export const ROLES = [...PERSON_ROLES, "uploader", "reader"] as const
/** One of `ROLES`. */
export type Role = (typeof ROLES)[number]

/** Each role, and the roles that it includes. */
const INCLUDED = {
  owner: ["owner", "editor", "viewer", "uploader", "reader"],
  editor: ["editor", "viewer", "uploader", "reader"],
  viewer: ["viewer", "reader"],
  uploader: ["uploader"],
  reader: ["reader"],
} as const satisfies Record<Role, ReadonlyArray<Role>>

/** Every action that a role can allow. */
export type Action =
  | "self.read"
  | "file.upload"
  | "row.read"
  | "source.read"
  | "source.change"
  | "source.reveal"
  | "source.delete"
  | "column.read"
  | "column.change"
  | "latest_view.create"
  | "view.read"
  | "view.change"
  | "event.read"
  | "event.trash"
  | "event.verify"
  | "event.reread"
  | "event.purge"
  | "inbox.mark"
  | "follower.change"
  | "key.read"
  | "key.change"
  | "token.read"
  | "token.change"
  | "person.read"
  | "person.change"
  | "session.read"
  | "session.end"
  | "address.read"
  | "address.change"
  | "address.reveal"
  | "delivery.read"
  | "delivery.change"
  | "import.read"
  | "destination.read"
  | "destination.change"
  | "poll.read"
  | "poll.change"
  | "notices.read"
  | "notices.change"
  | "schema.change"
  | "report_login.read"
  | "report_login.change"
  | "diagnostics.read"
  | "audit.read"

/** The least role that an action needs; `any` for every authenticated caller. */
export const ROLE_NEEDED = {
  "self.read": "any",
  "file.upload": "uploader",
  "row.read": "reader",
  "source.read": "viewer",
  "source.change": "editor",
  "source.reveal": "editor",
  "source.delete": "owner",
  "column.read": "viewer",
  "column.change": "editor",
  "latest_view.create": "editor",
  "view.read": "viewer",
  "view.change": "viewer",
  "event.read": "viewer",
  "event.trash": "editor",
  "event.verify": "editor",
  "event.reread": "editor",
  "event.purge": "owner",
  "inbox.mark": "editor",
  "follower.change": "editor",
  "key.read": "viewer",
  "key.change": "editor",
  "token.read": "owner",
  "token.change": "owner",
  "person.read": "owner",
  "person.change": "owner",
  "session.read": "viewer",
  "session.end": "viewer",
  "address.read": "viewer",
  "address.change": "editor",
  "address.reveal": "editor",
  "delivery.read": "viewer",
  "delivery.change": "editor",
  "import.read": "viewer",
  "destination.read": "viewer",
  "destination.change": "owner",
  "poll.read": "viewer",
  "poll.change": "editor",
  "notices.read": "viewer",
  "notices.change": "editor",
  "schema.change": "owner",
  "report_login.read": "owner",
  "report_login.change": "owner",
  "diagnostics.read": "viewer",
  "audit.read": "owner",
} as const satisfies Record<Action, Role | "any">

/** Whether this role allows the action. */
export const mayDo = (role: Role, action: Action): boolean => {
  const needed = ROLE_NEEDED[action]
  return needed === "any" || INCLUDED[role].some((included) => included === needed)
}

/** Null for any other text. */
export const parseRole = (word: string): Role | null => ROLES.find((role) => role === word) ?? null

/** The refusal of an action to this role. */
export const roleMissing = (action: Action, role: Role): string =>
  `This needs the role ${ROLE_NEEDED[action]}; yours is ${role}.`
