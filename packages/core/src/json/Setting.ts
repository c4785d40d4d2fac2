/**
 * The declaration of one setting of a source, a poll or an address. Its bodies, JSON, OpenAPI, check, error code, flag, form
 * field and column follow from it.
 *
 * Decision: docs/decisions/0082-objects-are-declared-by-shapes.md
 */
import { snakeKey } from "./KeyCase.ts"
import type { KindOf, SettingInput } from "./SettingInput.ts"
import * as Shape from "./Shape.ts"

type GivenValue<A> = A extends ReadonlyArray<unknown> ? A : A extends object ? Partial<A> : A

/** Some settings as they are given; absent parts of a value have their defaults. */
export type GivenSettings<S> = { readonly [K in keyof S]?: GivenValue<S[K]> }

/** A declaration without its flag. */
export interface Declared<A, K extends SettingInput["kind"]> {
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
  /** The error of a value that only rules beyond this declaration refuse. */
  readonly refused?: { readonly code: string; readonly meaning: string }
  /** The value in the form in which it is stored. */
  readonly stored?: (value: A) => A
}

/** A declared flag. */
export interface FlagText {
  /** Its flag in the command; the parts of a value have theirs. */
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
export type Setting<A> = Declared<A, KindOf<A>> & ([KindOf<A>] extends ["parts"] ? unknown : FlagText)

/** One of an object that the command shows as a card. */
export type CardSetting<A> = Setting<A> & {
  /** Its line of the card: absent for null, false and an empty list, unless `none` says what that means, and if `as` returns null. */
  readonly shown: {
    readonly label: string
    readonly none?: string
    readonly as?: (value: NonNullable<A>) => string | null
  }
}

/** A declaration whose values are of any type. */
export type AnySetting = Omit<Declared<never, SettingInput["kind"]>, "default"> &
  Partial<FlagText> &
  Partial<Pick<CardSetting<never>, "shown">> & { readonly default: unknown }

/** A declaration with its name in programs and in JSON. */
export interface NamedSetting<S> {
  readonly key: keyof S & string
  /** In snake case; also the name of its form field and of its column. */
  readonly name: string
  readonly setting: AnySetting
}

/** A declaration of any object's setting. */
export type AnyNamed = Omit<NamedSetting<never>, "key"> & { readonly key: string }

/** Settings of any object. */
export interface AnySettings extends Record<"defaults" | "shapes", object> {
  readonly all: ReadonlyArray<AnyNamed>
  readonly errors: ReadonlyArray<SettingError<string>>
}

interface SettingError<Code> {
  readonly code: Code
  readonly meaning: string
  /** The setting's path in JSON, such as `rate` or `client_identity/key`. */
  readonly name: string
}

type CodeOf<D> =
  | (D extends { readonly check: { readonly code: infer Code extends string } } ? Code : never)
  | (D extends { readonly refused: { readonly code: infer Code extends string } } ? Code : never)
  | (D extends { readonly input: { readonly of: { readonly declared: infer Parts } } } ? PartCode<Parts> : never)

/** Parts have no parts of their own. */
type PartCode<D> = {
  readonly [K in keyof D]: D[K] extends { readonly refused: { readonly code: infer Code extends string } }
    ? Code
    : never
}[keyof D]

/** The codes of the errors of these declarations. */
export type SettingCode<D> = { readonly [K in keyof D]: CodeOf<D[K]> }[keyof D]

/** The settings of an object, and what follows from their declarations. */
export interface Settings<S, D> {
  readonly declared: D
  /** In the order of forms and help. */
  readonly all: ReadonlyArray<NamedSetting<S>>
  /** Those of a new object. */
  readonly defaults: S
  /** The JSON of each setting and its description. */
  readonly shapes: Shape.Members<S>
  readonly errors: ReadonlyArray<SettingError<SettingCode<D>>>
  /** The error of the first invalid value; null if all are valid. */
  readonly refusal: (given: GivenSettings<S>) => { readonly code: SettingCode<D>; readonly message: string } | null
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
    case "parts": {
      const shape = Shape.object<never>(about, input.of.shapes as never)
      return initial === null ? Shape.orNull(shape) : shape
    }
  }
}

const errorsOf = ({ name, setting }: AnyNamed): ReadonlyArray<SettingError<string>> => {
  const { check, refused, input } = setting
  const parts = input.kind === "parts" ? input.of.errors : []
  return [
    ...[check, refused].flatMap((one) => (one === undefined ? [] : [{ code: one.code, meaning: one.meaning, name }])),
    ...parts.map((part) => ({ ...part, name: `${name}/${part.name}` })),
  ]
}

/** A value with the defaults of its absent parts. */
const whole = ({ input }: AnySetting, value: unknown): unknown =>
  input.kind === "parts" && value !== null ? { ...input.of.defaults, ...(value as object) } : value

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
      errors: all.flatMap(errorsOf) as never,
      refusal: (given) => {
        for (const { key, setting } of all) {
          const value = whole(setting, given[key] ?? null)
          const message = value === null ? null : setting.check?.refusal(value as never)
          if (typeof message === "string") return { code: setting.check!.code as SettingCode<D>, message }
        }
        return null
      },
      ofRow: Shape.object<S>("The settings.", shapes).ofRow,
    }
  }

/** The parts of a value, under the names of their form fields. */
export const partsOf = ({ name, setting: { input } }: AnyNamed): ReadonlyArray<AnyNamed> =>
  input.kind === "parts" ? input.of.all.map((part) => ({ ...part, name: `${name}_${part.name}` })) : []
