/**
 * The settings of an address, each declared once. JSON, bodies, OpenAPI, checks, error codes, flags, form fields and the command's
 * card follow from `SENDING_SETTINGS`; the columns follow from `COLUMN_SETTINGS`, those with a single value. The members of a body
 * are in `BodySetting`; what is accepted and never shown is in `ClientIdentity`.
 *
 * A new setting also needs its column, in a migration; its label in the console (`console/words/SettingWords`); and, if it
 * has an error code of its own, that code in the library's list (`cli/library/CabinetErrorCode`).
 */
import { type CardSetting, type Setting, settingsOf } from "../json/Setting.ts"
import { isLifetime, lifetimeText, parseLifetime } from "../key/Lifetime.ts"
import { BODY_PARTS, bodyRefusal, type BodySetting } from "./BodySetting.ts"

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

/**
 * `feed`: events are sent one after another in the order of the feed, each after the response to the previous one.
 * `none`: each is sent as soon as possible.
 */
export type DeliveryOrder = (typeof DELIVERY_ORDERS)[number]
/** The orders in which an address may be sent its events. */
export const DELIVERY_ORDERS = ["none", "feed"] as const

/** How many events one request of an ordered address carries. */
export interface Batching {
  /** The most events, 1 to 100. With 1 the body is that of a single delivery. */
  readonly max: number
  /** For how many seconds the first event of a batch waits for more, 0 to 60. */
  readonly wait: number
}

/** All settings of an address that are shown. */
export interface ShownSettings extends SendingValues {
  /** Whether events are sent in the order of the feed, each after the response to the previous one. */
  readonly order: DeliveryOrder
  /** How many events one request carries, which needs `order: "feed"`. */
  readonly batch: Batching
  /** What deliveries carry. */
  readonly body: BodySetting
}

const MAX_BATCH = 100
const MAX_BATCH_WAIT_SECONDS = 60

const isWhole = (value: number, max: number): boolean => Number.isInteger(value) && value >= 1 && value <= max

const COLUMNS = {
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

/** The settings that are stored in columns of their names. */
export const COLUMN_SETTINGS = settingsOf<SendingValues>()(COLUMNS)

const BATCH = {
  max: {
    about: "The most events; with 1 the body is that of a single delivery.",
    inRequests: "The most events, 1 to 100; with 1 the body is that of one delivery.",
    input: { kind: "whole", least: 1, most: MAX_BATCH, unbounded: true },
    default: 1,
    flag: { name: "batch", metavar: "N", about: "With --order feed: maximum events per request; default: 1" },
  },
  wait: {
    about: "For how many seconds the first event of a batch waits for more.",
    inRequests: "For how many seconds the first event of a batch waits for more, 0 to 60.",
    input: { kind: "whole", least: 0, most: MAX_BATCH_WAIT_SECONDS, unbounded: true },
    default: 0,
    flag: {
      name: "batch-wait",
      metavar: "SECONDS",
      about: "With --batch: how long its first event waits for more; default: 0",
    },
  },
} as const satisfies { readonly [K in keyof Batching]: Setting<Batching[K]> }

const BATCH_PARTS = settingsOf<Batching>()(BATCH)

/** One event a request. */
export const NO_BATCHES = BATCH_PARTS.defaults

const DECLARED = {
  ...COLUMNS,
  order: {
    about:
      "`feed`: events are sent in feed order, each after the response to the previous one. `none`: each event is sent as soon as possible.",
    input: { kind: "choice", values: DELIVERY_ORDERS },
    default: "none",
    flag: {
      about: "feed: send events in the order of the feed, each after the response to the previous one; default: none",
    },
    shown: { label: "Order", as: (order: DeliveryOrder) => (order === "feed" ? "as in the feed" : null) },
  },
  batch: {
    about: "How many events one request brings, with `order` `feed`.",
    inRequests: "How many events one request brings; needs `order` `feed`.",
    input: { kind: "parts", of: BATCH_PARTS, required: ["max", "wait"], needed: ["max"] },
    default: NO_BATCHES,
    check: {
      refusal: ({ max, wait }: Batching) =>
        isWhole(max, MAX_BATCH) && (wait === 0 || isWhole(wait, MAX_BATCH_WAIT_SECONDS))
          ? null
          : `A batch must have a max from 1 to ${MAX_BATCH} events, and a wait of 0 to ${MAX_BATCH_WAIT_SECONDS} whole seconds.`,
      code: "bad_batch",
      meaning: "The batch is out of range, or the address has no order: `max` 1 to 100 events, `wait` 0 to 60 seconds.",
    },
    shown: {
      label: "Batches",
      as: ({ max, wait }: Batching) =>
        max === 1 ? null : `of up to ${max}${wait === 0 ? "" : ` after at most ${wait} s`}`,
    },
  },
  body: {
    about: "What its deliveries carry.",
    inRequests: "What deliveries carry.",
    input: {
      kind: "parts",
      of: BODY_PARTS,
      required: ["kind"],
      needed: ["kind"],
      implied: { by: "template", member: "kind", value: "template" },
    },
    default: BODY_PARTS.defaults,
    check: {
      refusal: bodyRefusal,
      code: "bad_template",
      meaning:
        "The body of deliveries is not valid, or does not fit its address; the message says why, of a template with line and column.",
    },
    shown: {
      label: "Body",
      as: ({ kind, method, contentType }: BodySetting) =>
        kind === "standard" ? null : [kind, method === "POST" ? [] : method, contentType ?? []].flat().join(", "),
    },
  },
} as const satisfies { readonly [K in keyof ShownSettings]: CardSetting<ShownSettings[K]> }

/** The body alone, which is also previewed. */
export const BODY_SETTINGS = settingsOf<Pick<ShownSettings, "body">>()({ body: DECLARED.body })

/** The settings that are shown, and what follows from their declarations. */
export const SENDING_SETTINGS = settingsOf<ShownSettings>()(DECLARED)
