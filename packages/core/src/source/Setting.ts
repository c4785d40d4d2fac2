/** The declaration of one setting of a source, from which all its notations follow. */

/** How a value is written in a request body, a flag and a form. Values of `choice`, `text` and `whole` may be null. */
export type SettingInput =
  | { readonly kind: "choice"; readonly values: ReadonlyArray<string> }
  | {
      readonly kind: "text"
      /** In characters. */
      readonly maxLength: number
      /** What an empty form field shows. */
      readonly example?: string
      readonly is?: "url"
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
  | { readonly kind: "whole"; readonly least: number; readonly most: number }
  | { readonly kind: "flag" }

type Kind = SettingInput["kind"]

type KindOf<A> = [A] extends [boolean]
  ? "flag"
  : [A] extends [number | null]
    ? "whole"
    : [A] extends [string | null]
      ? "choice" | "text"
      : "names"

interface Declared<A, K extends Kind> {
  /** Describes it in the API. */
  readonly about: string
  readonly input: SettingInput & { readonly kind: K }
  /** Of a new source. */
  readonly default: A
  readonly check?: {
    /** Why a value is refused, in words; null if it is not. Null itself is never refused. */
    readonly refusal: (value: NonNullable<A>) => string | null
    /** The error of a refused value. */
    readonly code: string
    readonly meaning: string
  }
  /** The value in the form in which it is stored. */
  readonly stored?: (value: A) => A
  /** Its flag in the command; the name follows from the setting's unless it is given. */
  readonly flag: { readonly name?: string; readonly metavar?: string; readonly about: string }
  /** Its line in the command's output: absent for null, false and an empty list, unless `none` says what that means. */
  readonly shown: { readonly label: string; readonly none?: string; readonly as?: (value: NonNullable<A>) => string }
}

/** The declaration of a setting with values of type `A`. */
export type Setting<A> = Declared<A, KindOf<A>>

/** A declaration whose values are of any type. */
export type AnySetting = Omit<Declared<never, Kind>, "default"> & { readonly default: unknown }
