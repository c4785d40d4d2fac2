/**
 * The settings of a poll, each declared once, apart from its URL and its headers. JSON, bodies, OpenAPI, columns, checks, error
 * codes, flags and form fields follow from `POLL_SETTINGS`.
 *
 * A new setting also needs its column, in a migration; its label in the console (`console/words/SettingWords`); and, if it
 * has an error code of its own, that code in the library's list (`cli/library/CabinetErrorCode`).
 */
import { isPointer } from "../file/PointedReader.ts"
import { type Setting, settingsOf } from "../json/Setting.ts"
import { intervalText, isInterval, MAX_SECONDS, MIN_SECONDS, parseInterval } from "./PollSchedule.ts"

/** The format of a poll's responses. */
export type PollFormat = "json" | "ndjson" | "csv"

/** All formats of responses. */
export const POLL_FORMATS: ReadonlyArray<PollFormat> = ["json", "ndjson", "csv"]

/** How a poll requests and reads its URL. */
export interface PollSettings {
  /** Seconds from one run to the next, 10 to 2,592,000 (30 days). */
  readonly everySeconds: number
  /** Null: detected in every run. */
  readonly format: PollFormat | null
  /** The pointer to the list in a JSON response; empty for the whole response. */
  readonly pointer: string
  /** The field, or the pointer to it, by which an item is recognized; null: by its whole content. */
  readonly keyField: string | null
}

const MAX_POINTER_LENGTH = 1024

const DECLARED = {
  everySeconds: {
    about: "Seconds from one run to the next.",
    inRequests: "Seconds from one run to the next, 10 to 2,592,000; 900 if left out.",
    input: {
      kind: "duration",
      example: "15m",
      units: "smhd",
      parse: parseInterval,
      write: intervalText,
      must: "from 10s to 30d: a number followed by s, m, h or d",
      bounds: { minimum: MIN_SECONDS, maximum: MAX_SECONDS },
    },
    default: 900,
    check: {
      refusal: (seconds: number) =>
        isInterval(seconds) ? null : "The interval must be from 10 seconds to 30 days, such as 30s, 15m, 2h or 1d.",
      code: "bad_interval",
      meaning: "The interval is not between 10 seconds and 30 days.",
    },
    flag: { name: "every", metavar: "TIME", about: "How often: 30s, 15m (the default), 2h, 1d" },
  },
  format: {
    about: "Null: detected in every run.",
    input: { kind: "choice", values: POLL_FORMATS },
    default: null,
    check: {
      refusal: (format: PollFormat) =>
        POLL_FORMATS.includes(format) ? null : `The format must be one of ${POLL_FORMATS.join(", ")}.`,
      code: "bad_format",
      meaning: "The format is not one of those that can be read.",
    },
    flag: { about: "Format of the response; detect (the default) to detect it in each run", none: "detect" },
  },
  pointer: {
    about: "The JSON pointer to the list; empty: the whole response.",
    input: { kind: "text", maxLength: MAX_POINTER_LENGTH, example: "/data/items" },
    default: "",
    check: {
      refusal: (pointer: string) =>
        isPointer(pointer) ? null : "A pointer must be empty or begin with a slash, such as /data/items.",
      code: "bad_pointer",
      meaning: "The pointer is not a JSON pointer, or the format is not JSON.",
    },
    flag: {
      metavar: "POINTER",
      about: "JSON pointer to the list in a JSON response, such as /items; empty: the whole response",
    },
  },
  keyField: {
    about: "What an item is recognized by; null: its whole content.",
    input: { kind: "text", maxLength: MAX_POINTER_LENGTH, example: "id" },
    default: null,
    check: {
      refusal: (key: string) =>
        key === "" || (key.startsWith("/") && !isPointer(key))
          ? "The key must be a field name or a pointer, such as id or /meta/id."
          : null,
      code: "bad_key",
      meaning: "The key is neither a field's name nor a pointer to one.",
    },
    flag: { name: "key", metavar: "FIELD", about: "Field that identifies an item; empty: its whole content", none: "" },
  },
} as const satisfies { readonly [K in keyof PollSettings]: Setting<PollSettings[K]> }

/** The settings, and what follows from their declarations. */
export const POLL_SETTINGS = settingsOf<PollSettings>()(DECLARED)
