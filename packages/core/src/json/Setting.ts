/**
 * The declaration of one setting of a source, a poll or an address. Its bodies, JSON, OpenAPI, check, error code, flag, form
 * field and column follow from it.
 *
 * Decision: docs/decisions/0082-objects-are-declared-by-shapes.md
 */
import { snakeKey } from "./KeyCase.ts"
import * as Shape from "./Shape.ts"

/** How a value is written in a request body, a flag and a form. It may be null if its default is. */
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

type Kind = SettingInput["kind"]

type KindOf<A> = [A] extends [boolean]
  ? "flag"
  : [A] extends [number | null]
    ? "whole" | "duration"
    : [A] extends [string | null]
      ? "choice" | "text"
      : "names"

interface Declared<A, K extends Kind> {
  /** Describes it in the API. */
  readonly about: string
  /** Describes it in requests, if they need more than `about`. */
  readonly inRequests?: string
  readonly input: SettingInput & { readonly kind: K }
  /** Of a new object. */
  readonly default: null extends A ? null : A
  readonly check?: {
    /** Why a value is refused, in words; null if it is not. Null itself is never refused. */
    readonly refusal: (value: NonNullable<A>) => string | null
    /** The error of a refused value. */
    readonly code: string
    readonly meaning: string
  }
  /** The value in the form in which it is stored. */
  readonly stored?: (value: A) => A
  /** Its flag in the command. */
  readonly flag: {
    /** Default: the setting's own, with dashes. */
    readonly name?: string
    readonly metavar?: string
    readonly about: string
    /** The word for null; default: `none`. */
    readonly none?: string
  }
}

/** The declaration of a setting with values of type `A`. */
export type Setting<A> = Declared<A, KindOf<A>>

/** One of an object that the command shows as a card. */
export type CardSetting<A> = Setting<A> & {
  /** Its line of the card: absent for null, false and an empty list, unless `none` says what that means. */
  readonly shown: { readonly label: string; readonly none?: string; readonly as?: (value: NonNullable<A>) => string }
}

/** A declaration whose values are of any type. */
export type AnySetting = Omit<Declared<never, Kind>, "default"> &
  Partial<Pick<CardSetting<never>, "shown">> & { readonly default: unknown }

/** A declaration with its name in programs and in JSON. */
export interface NamedSetting<S> {
  readonly key: keyof S & string
  /** In snake case; also the name of its form field and of its column. */
  readonly name: string
  readonly setting: AnySetting
}

/** The codes of the errors of these declarations. */
export type SettingCode<D> = {
  readonly [K in keyof D]: D[K] extends { readonly check: { readonly code: infer Code extends string } } ? Code : never
}[keyof D]

/** The settings of an object, and what follows from their declarations. */
export interface Settings<S, D> {
  readonly declared: D
  /** In the order of forms and help. */
  readonly all: ReadonlyArray<NamedSetting<S>>
  /** Those of a new object. */
  readonly defaults: S
  /** The JSON of each setting and its description. */
  readonly shapes: Shape.Members<S>
  /** The codes of errors, with what they mean and the setting's name in JSON. */
  readonly errors: ReadonlyArray<{ readonly code: SettingCode<D>; readonly meaning: string; readonly name: string }>
  /** The error of the first invalid value; null if all are valid. */
  readonly refusal: (given: Partial<S>) => { readonly code: SettingCode<D>; readonly message: string } | null
  /** The settings in a row whose columns have their names. */
  readonly ofRow: (row: object) => S
}

const shapeOf = ({ about, input, default: initial }: AnySetting): Shape.Shape<never> => {
  const nullable = (shape: Shape.Shape<never>, own: Shape.Shape<never>) =>
    initial === null ? Shape.orNull(shape, about) : own
  switch (input.kind) {
    case "choice":
      return nullable(Shape.oneOf(input.values), Shape.oneOf(input.values, about))
    case "text":
      return nullable(Shape.text(), Shape.text(about))
    case "names":
      return Shape.list(Shape.text(), about)
    case "whole":
    case "duration":
      return nullable(Shape.whole(), Shape.whole(about))
    case "flag":
      return Shape.flag(about)
  }
}

/** Declares the settings of `S`, each with its type. */
export const settingsOf =
  <S extends object>() =>
  <const D extends { readonly [K in keyof S]: Setting<S[K]> }>(declared: D): Settings<S, D> => {
    const all = Object.entries<AnySetting>(declared as never).map(([key, setting]): NamedSetting<S> => ({
      key: key as keyof S & string,
      name: snakeKey(key),
      setting,
    }))
    const byKey = (of: (setting: AnySetting) => unknown) =>
      Object.fromEntries(all.map(({ key, setting }) => [key, of(setting)]))
    const shapes = byKey(shapeOf) as Shape.Members<S>
    return {
      declared,
      all,
      defaults: byKey((setting) => setting.default) as S,
      shapes,
      errors: all.flatMap(({ name, setting: { check } }) =>
        check === undefined ? [] : [{ code: check.code as SettingCode<D>, meaning: check.meaning, name }],
      ),
      refusal: (given) => {
        for (const { key, setting } of all) {
          const value = given[key] ?? null
          const message = value === null ? null : (setting.check?.refusal(value as never) ?? null)
          if (message !== null) return { code: setting.check!.code as SettingCode<D>, message }
        }
        return null
      },
      ofRow: Shape.object<S>("The settings.", shapes).ofRow,
    }
  }
