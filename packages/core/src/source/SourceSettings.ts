/**
 * The settings of a source, each declared once. JSON, bodies, OpenAPI, columns, checks, error codes, flags and form fields follow
 * from `SOURCE_SETTINGS`.
 *
 * A new setting also needs its column, in a migration; its label in the console (`console/words/SettingWords`); and, if it
 * has an error code of its own, that code in the library's list (`cli/library/CabinetErrorCode`). The compiler names the last two.
 *
 * Decision: docs/decisions/0082-objects-are-declared-by-shapes.md
 */
import { type CardSetting, settingsOf } from "../json/Setting.ts"
import { headerNamesRefusal, MAX_HEADER_NAME_LENGTH, MAX_HEADER_NAMES } from "../network/HeaderNames.ts"
import { MAX_SCHEMA_BYTES, schemaRefusal } from "../schema/OwnSchema.ts"
import { INBOX_SETTINGS, type InboxSettings } from "./InboxSettings.ts"
import {
  honeypotRefusal,
  MAX_HONEYPOT_LENGTH,
  MAX_ORIGIN_LENGTH,
  MAX_ORIGINS,
  normalizedOrigins,
  originsRefusal,
  type SpamRules,
} from "./SpamRules.ts"

/** An explicit charset for a source's forms; it overrides detection. `latin-1` is windows-1252, as on the web. */
export type SourceEncoding = "utf-8" | "windows-1251" | "latin-1"

/** All charsets that a source can be set to. */
export const SOURCE_ENCODINGS: ReadonlyArray<SourceEncoding> = ["utf-8", "windows-1251", "latin-1"]

/** The highest rate of a source, in requests a minute. */
export const MAX_SOURCE_RATE = 1_000_000

/** The settings of a source, apart from its name, verification and challenges. */
export interface SourceSettings extends SpamRules, InboxSettings {
  /** The charset of its forms, whatever they declare; null: detected for each submission. */
  readonly encoding: SourceEncoding | null
  /** Where a browser is redirected after a plain form; null: our own thank-you page is shown. */
  readonly thanksUrl: string | null
  /** The headers that original requests keep in addition to the usual ones: names, or prefixes such as `X-GitHub-*`. */
  readonly keepHeaders: ReadonlyArray<string>
  /**
   * Headers that also become fields of the events, under these names. They are kept with the original request as well.
   */
  readonly headerFields: ReadonlyArray<string>
  /** Whether original requests keep the query string as sent. */
  readonly keepQuery: boolean
  /** Whether the fields of forms are nested by the brackets in their names. */
  readonly nestBrackets: boolean
  /** The most requests a minute from all clients together, 1 to 1,000,000; null: the server's limits. */
  readonly rate: number | null
  /** A JSON Schema of its payloads, as text: events that do not follow it are marked; null: none. */
  readonly schema: string | null
}

const isWebAddress = (url: string) => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)

const headerNames = (example: string) =>
  ({
    kind: "names",
    most: MAX_HEADER_NAMES,
    maxLength: MAX_HEADER_NAME_LENGTH,
    item: "A header's name.",
    example,
  }) as const

/** The declarations, in the order of forms and help. */
const DECLARED = {
  encoding: {
    about: "The charset of its forms; null: detected for each submission.",
    input: { kind: "choice", values: SOURCE_ENCODINGS },
    default: null,
    check: {
      refusal: (encoding: SourceEncoding) =>
        SOURCE_ENCODINGS.includes(encoding) ? null : `The encoding must be one of ${SOURCE_ENCODINGS.join(", ")}.`,
      code: "bad_encoding",
      meaning: "The encoding is unknown, or not one of those that a source can have.",
    },
    flag: { about: "Decode forms in this charset, whatever they declare; none to detect it for each submission" },
    shown: { label: "Encoding", none: "detected per submission" },
  },
  thanksUrl: {
    about: "Where a browser is redirected after a plain form; null: the built-in page.",
    input: { kind: "text", maxLength: 2048, example: "https://", is: "url" },
    default: null,
    check: {
      refusal: (url: string) => (isWebAddress(url) ? null : "The thank-you URL must begin with http:// or https://."),
      code: "bad_thanks_url",
      meaning: "The URL of the thank-you page is not an http or https URL.",
    },
    flag: {
      metavar: "URL",
      about: "Page that the browser is redirected to after a plain HTML form; none for the built-in page",
    },
    shown: { label: "Thank-you page", none: "default" },
  },
  keepHeaders: {
    about:
      "The headers that original requests keep besides those that all keep: names, or prefixes such as `X-GitHub-*`.",
    input: headerNames("X-GitHub-*"),
    default: [],
    check: {
      refusal: (names: ReadonlyArray<string>) => headerNamesRefusal(names, { setting: "keep_headers", prefixes: true }),
      code: "bad_keep_headers",
      meaning: "A header cannot be kept, or a prefix is too wide; the message says which.",
    },
    flag: {
      metavar: "NAME,…",
      about:
        "Additional headers to keep with the original request: names, or prefixes such as X-GitHub-*; none to keep only the usual ones",
    },
    shown: { label: "Kept headers" },
  },
  headerFields: {
    about: "Headers that also become fields of the events, under these names.",
    input: headerNames("X-GitHub-Event"),
    default: [],
    check: {
      refusal: (names: ReadonlyArray<string>) =>
        headerNamesRefusal(names, { setting: "header_fields", prefixes: false }),
      code: "bad_header_fields",
      meaning: "A header cannot be a field; the message says which.",
    },
    flag: { metavar: "NAME,…", about: "Headers that become fields of the event; none to remove them all" },
    shown: { label: "Header fields" },
  },
  keepQuery: {
    about: "Whether original requests keep the query string as sent.",
    input: { kind: "flag" },
    default: false,
    flag: { about: "Keep the URL's query string as sent with the original request" },
    shown: { label: "Query string", as: () => "kept as sent" },
  },
  nestBrackets: {
    about:
      "Whether the fields of forms are nested by the brackets in their names: `leads[add][0][name]` becomes a member of `leads`.",
    input: { kind: "flag" },
    default: false,
    flag: {
      about:
        "Nest the fields of forms by the brackets in their names: leads[add][0][name] becomes a member of the column leads",
    },
    shown: { label: "Form fields", as: () => "nested by their brackets" },
  },
  rate: {
    about: "How many requests a minute it takes from all clients together; null: the common limits.",
    input: { kind: "whole", least: 1, most: MAX_SOURCE_RATE },
    default: null,
    check: {
      refusal: (rate: number) =>
        Number.isInteger(rate) && rate >= 1 && rate <= MAX_SOURCE_RATE
          ? null
          : "The rate must be a whole number of requests a minute from 1 to 1,000,000.",
      code: "bad_rate",
      meaning: "The rate is not a whole number, or too high; the message says what it may be.",
    },
    flag: {
      metavar: "N",
      about: "Maximum requests per minute, from all clients together; none for the server's limits",
    },
    shown: { label: "Rate", as: (rate: number) => `at most ${rate} requests a minute` },
  },
  honeypot: {
    about: "A field of its form that people leave empty: filled, the event is spam; null: none.",
    input: { kind: "text", maxLength: MAX_HONEYPOT_LENGTH },
    default: null,
    check: {
      refusal: honeypotRefusal,
      code: "bad_honeypot",
      meaning: "The honeypot cannot be the name of a form's field.",
    },
    flag: {
      metavar: "FIELD",
      about: "Hidden form field that people leave empty: an event that fills it is spam; none to stop checking",
    },
    shown: { label: "Honeypot" },
  },
  allowOrigins: {
    about: "The origins of pages with its form: submissions from others are spam; empty: any origin.",
    input: {
      kind: "names",
      most: MAX_ORIGINS,
      maxLength: MAX_ORIGIN_LENGTH,
      item: "An origin, such as `https://www.example.com`.",
      example: "https://www.example.com",
    },
    default: [],
    stored: normalizedOrigins,
    check: {
      refusal: originsRefusal,
      code: "bad_allow_origins",
      meaning: "An entry is not a page's origin, or there are too many; the message says which.",
    },
    flag: {
      name: "allow-origin",
      metavar: "ORIGIN,…",
      about:
        "Origins of the pages with the form, such as https://www.example.com: submissions from other origins count as spam; none to allow any. Not a security control",
    },
    shown: { label: "Origins" },
  },
  schema: {
    about:
      "A JSON Schema of its payloads, as text: events that do not follow it have the fields `_valid` (false) and `_schema_error`; null: none.",
    input: { kind: "text", maxLength: MAX_SCHEMA_BYTES, is: "document" },
    default: null,
    check: {
      refusal: schemaRefusal,
      code: "bad_schema",
      meaning:
        "The schema is not JSON, too long, or has a keyword that is not understood; the message names the place.",
    },
    flag: {
      metavar: "FILE",
      about:
        "File with a JSON Schema of what it sends: events that do not follow it are marked by _valid, and accepted all the same; - for standard input, none for no schema",
    },
    shown: { label: "Own schema", as: (schema: string) => `${Buffer.byteLength(schema)} bytes` },
  },
  ...INBOX_SETTINGS,
} as const satisfies { readonly [K in keyof SourceSettings]: CardSetting<SourceSettings[K]> }

/** The settings, and what follows from their declarations. */
export const SOURCE_SETTINGS = settingsOf<SourceSettings>()(DECLARED)

/** The defaults of a new source. */
export const DEFAULT_SETTINGS = SOURCE_SETTINGS.defaults
