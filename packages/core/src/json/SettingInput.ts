/** How the value of a declared setting is written. */
import type { AnySettings } from "./Setting.ts"

/** How a value is written in a request body, a flag and a form. It may be null if its default is. */
export type SettingInput =
  | {
      readonly kind: "parts"
      /** Its members, each declared like a setting. */
      readonly of: AnySettings
      /** The members that a body must have; the others may be left out, and then have their defaults. */
      readonly required: ReadonlyArray<string>
      /** The members without whose flags those of the others mean nothing. */
      readonly needed: ReadonlyArray<string>
      /** The needed member that the flag of another one implies, such as the kind of a body by its template. */
      readonly implied?: { readonly by: string; readonly member: string; readonly value: string }
    }
  | { readonly kind: "choice"; readonly values: ReadonlyArray<string> }
  | {
      readonly kind: "text"
      /** In characters. */
      readonly maxLength: number
      /** What an empty form field shows. */
      readonly example?: string
      /** A document has lines: its flag names a file, and its form field is a text area. */
      readonly is?: "url" | "document"
      /** Never shown, and never kept in a form. */
      readonly secret?: true
    }
  | {
      readonly kind: "names"
      /** The greatest number of names. */
      readonly most: number
      /** Of one name, in characters. */
      readonly maxLength: number
      /** Describes one name. */
      readonly item: string
      readonly example: string
    }
  | {
      readonly kind: "whole"
      readonly least: number
      readonly most: number
      /** The check alone refuses a number out of range in a body. */
      readonly unbounded?: true
    }
  | {
      /** Seconds in bodies; people write a number and a unit. */
      readonly kind: "duration"
      /** What an empty form field shows. */
      readonly example: string
      /** The letters of its units. */
      readonly units: string
      /** The seconds; null for any other text. */
      readonly parse: (text: string) => number | null
      readonly write: (seconds: number) => string
      /** What a flag must be, in words. */
      readonly must: string
      /** The limits of bodies; without them, the check alone refuses a value. */
      readonly bounds?: { readonly minimum: number; readonly maximum: number }
    }
  | { readonly kind: "flag" }

/** The kinds of inputs that a value of type `A` may have. */
export type KindOf<A> = [A] extends [boolean]
  ? "flag"
  : [A] extends [number | null]
    ? "whole" | "duration"
    : [A] extends [string | null]
      ? "choice" | "text"
      : [A] extends [ReadonlyArray<string>]
        ? "names"
        : "parts"
