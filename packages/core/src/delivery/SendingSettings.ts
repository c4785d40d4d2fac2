/**
 * The settings of an address that are single values, each declared once. JSON, bodies, OpenAPI, columns, checks, error codes,
 * flags, form fields and the command's card follow from `SENDING_SETTINGS`. What has parts of its own (headers, order, body, client
 * certificate) is in `NewAddress`.
 *
 * A new setting also needs its column, in a migration; its label in the console (`console/words/SettingWords`); and, if it
 * has an error code of its own, that code in the library's list (`cli/library/CabinetErrorCode`).
 */
import { type CardSetting, settingsOf } from "../json/Setting.ts"
import { isLifetime, lifetimeText, parseLifetime } from "../key/Lifetime.ts"

/** Deliveries a second. */
export const MAX_RATE = 1_000
/** The longest time limit of an attempt. */
export const MAX_TIMEOUT_SECONDS = 15

/** How requests are sent to an address. */
export interface SendingValues {
  /**
   * The most deliveries a second, 1 to 1,000, over all processes; null: unlimited. A delivery that waits for its turn has
   * not failed.
   */
  readonly rate: number | null
  /** How many seconds an attempt may take, 1 to 15; null: 15. */
  readonly timeoutSeconds: number | null
  /** How many seconds it may fail without a break, a minute to ten years, before it is paused; null: for ever. */
  readonly giveUpAfterSeconds: number | null
  /** Whether a response of 410 pauses it. */
  readonly pauseOnGone: boolean
}

const isWhole = (value: number, max: number): boolean => Number.isInteger(value) && value >= 1 && value <= max

const DECLARED = {
  rate: {
    about: "The maximum rate of deliveries a second; null: no limit.",
    inRequests: "The maximum rate of deliveries a second, for all processes together; null: no limit.",
    input: { kind: "whole", least: 1, most: MAX_RATE },
    default: null,
    check: {
      refusal: (rate: number) =>
        isWhole(rate, MAX_RATE)
          ? null
          : `The rate must be a whole number of deliveries a second from 1 to ${MAX_RATE}.`,
      code: "bad_rate",
      meaning: "The rate is not a whole number, or too high; the message says what it may be.",
    },
    flag: {
      metavar: "N",
      about: "Maximum deliveries per second, from all processes together; none (the default) for no limit",
    },
    shown: { label: "Rate", as: (rate: number) => `at most ${rate} a second` },
  },
  timeoutSeconds: {
    about: "How long an attempt may take; null: 15 seconds.",
    input: { kind: "whole", least: 1, most: MAX_TIMEOUT_SECONDS },
    default: null,
    check: {
      refusal: (seconds: number) =>
        isWhole(seconds, MAX_TIMEOUT_SECONDS)
          ? null
          : `The time limit must be a whole number of seconds from 1 to ${MAX_TIMEOUT_SECONDS}.`,
      code: "bad_timeout",
      meaning: "The time limit is not a whole number of seconds from 1 to 15.",
    },
    flag: {
      name: "timeout",
      metavar: "SECONDS",
      about: "How long an attempt may take; none (the default) for 15",
    },
    shown: { label: "Time limit", as: (seconds: number) => `${seconds} s` },
  },
  giveUpAfterSeconds: {
    about: "How long it may fail continuously before it is paused; null: indefinitely.",
    inRequests: "How long it may fail continuously, a minute to ten years, before it is paused; null: indefinitely.",
    input: {
      kind: "duration",
      example: "7d",
      units: "mhd",
      parse: parseLifetime,
      write: lifetimeText,
      must: "a duration such as 7d, 12h or 30m",
    },
    default: null,
    check: {
      refusal: (seconds: number) =>
        isLifetime(seconds) ? null : "The time after which an address is given up must be from a minute to ten years.",
      code: "bad_give_up",
      meaning: "The time after which an address is given up is not from a minute to ten years.",
    },
    flag: {
      name: "give-up-after",
      metavar: "TIME",
      about:
        "Pause the address after it has failed continuously for this long, such as 7d or 12h; none (default) to retry forever",
    },
    shown: { label: "Given up", as: (seconds: number) => `after ${lifetimeText(seconds)} of failing` },
  },
  pauseOnGone: {
    about: "Whether a response of 410 pauses it.",
    input: { kind: "flag" },
    default: false,
    flag: { about: "Pause the address when it responds with 410; default: off" },
    shown: { label: "On 410", as: () => "paused" },
  },
} as const satisfies { readonly [K in keyof SendingValues]: CardSetting<SendingValues[K]> }

/** The settings, and what follows from their declarations. */
export const SENDING_SETTINGS = settingsOf<SendingValues>()(DECLARED)
