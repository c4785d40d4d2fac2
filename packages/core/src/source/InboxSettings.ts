/** The settings of a source whose events are messages of people: whether it has an inbox, and which field is which. */
import type { CardSetting } from "../json/Setting.ts"

/** Whether a source has an inbox, whatever its fields look like. */
export const INBOX_SWITCHES = ["on", "off"] as const
/** One of `INBOX_SWITCHES`. */
export type InboxSwitch = (typeof INBOX_SWITCHES)[number]

/** The longest name of a field, in characters. */
const MAX_FIELD_LENGTH = 200

/** Null: guessed from the events. */
export interface InboxSettings {
  /** Whether its events are shown as messages; null: if its fields look like a contact form's. */
  readonly inbox: InboxSwitch | null
  /** The field with the sender's name. */
  readonly inboxName: string | null
  /** The field with the sender's e-mail address. */
  readonly inboxEmail: string | null
  /** The field with the subject. */
  readonly inboxSubject: string | null
  /** The field with the text of the message. */
  readonly inboxMessage: string | null
}

const field = (what: string, label: string) =>
  ({
    about: `The field with the ${what} in its inbox; null: guessed.`,
    input: { kind: "text", maxLength: MAX_FIELD_LENGTH },
    default: null,
    flag: { metavar: "FIELD", about: `Field with the ${what} in its inbox; none to guess it` },
    shown: { label: `Inbox: ${label}` },
  }) as const

/** Their declarations. */
export const INBOX_SETTINGS = {
  inbox: {
    about: "Whether its events are shown as messages of people, in an inbox; null: if they look like a contact form's.",
    input: { kind: "choice", values: INBOX_SWITCHES },
    default: null,
    check: {
      refusal: (inbox: InboxSwitch) => (INBOX_SWITCHES.includes(inbox) ? null : "The inbox must be on or off."),
      code: "bad_inbox",
      meaning: "The inbox is neither `on` nor `off`.",
    },
    flag: { about: "Show its events as messages in an inbox; none to decide by its fields" },
    shown: { label: "Inbox" },
  },
  inboxName: field("sender's name", "name"),
  inboxEmail: field("sender's e-mail address", "e-mail"),
  inboxSubject: field("subject", "subject"),
  inboxMessage: field("text of the message", "message"),
} as const satisfies { readonly [K in keyof InboxSettings]: CardSetting<InboxSettings[K]> }
