/** Declared settings in the bodies of requests, and their errors. */
import type { Snake } from "@data-cabinet/core/json/KeyCase"
import type { AnySetting, AnySettings, SettingCode, Settings } from "@data-cabinet/core/json/Setting"
import { Schema } from "effect"
import { text } from "./ManageBodies.ts"

const valueOf = ({ about, inRequests = about, input }: AnySetting): Schema.Top => {
  switch (input.kind) {
    case "choice":
      return Schema.Literals(input.values)
    case "text":
      return text(input.maxLength, inRequests)
    case "names":
      return Schema.Array(text(input.maxLength, input.item)).check(Schema.isMaxLength(input.most))
    case "parts":
      return Schema.Struct(partFields(input.of, input.required))
    case "whole":
      if (input.unbounded === true) return Schema.Int
      return Schema.Int.check(Schema.isBetween({ minimum: input.least, maximum: input.most }))
    case "duration":
      return input.bounds === undefined ? Schema.Int : Schema.Int.check(Schema.isBetween(input.bounds))
    case "flag":
      return Schema.Boolean
  }
}

const fieldOf = (setting: AnySetting): Schema.Top => {
  const { about, inRequests = about, input, default: initial } = setting
  const value = valueOf(setting)
  // A text has its description within, as one that can be null has always been published.
  if (input.kind === "text") return initial === null ? Schema.NullOr(value) : value
  return (initial === null ? Schema.NullOr(value) : value).annotate({ description: inRequests })
}

const partFields = ({ all }: AnySettings, required: ReadonlyArray<string>): Schema.Struct.Fields =>
  Object.fromEntries(
    all.map(({ key, name, setting }) => [
      name,
      required.includes(key) ? fieldOf(setting) : Schema.optionalKey(fieldOf(setting)),
    ]),
  )

type RequiredOf<D, K> = K extends keyof D
  ? D[K] extends { readonly input: { readonly required: ReadonlyArray<infer Key> } }
    ? Key
    : never
  : never

/** The value in a body: the keys of its parts are in snake case, and those that are not required may be absent. */
type BodyValue<A, Required> =
  A extends ReadonlyArray<unknown>
    ? A
    : A extends object
      ? { readonly [K in keyof A as K extends Required ? Snake<K> : never]: A[K] } & {
          readonly [K in keyof A as K extends Required ? never : Snake<K>]?: A[K]
        }
      : A

type SettingFields<S, D> = {
  readonly [K in keyof S as Snake<K>]: Schema.optionalKey<Schema.Codec<BodyValue<S[K], RequiredOf<D, K>>>>
}

/** A field of each setting, which a body may lack. */
export const settingFields = <S, D>({ all }: Settings<S, D>): SettingFields<S, D> =>
  Object.fromEntries(all.map(({ name, setting }) => [name, Schema.optionalKey(fieldOf(setting))])) as never

/** The member of a body that each error is about. */
export const settingParams = <S, D>({ errors }: Settings<S, D>): Readonly<Record<SettingCode<D>, string>> =>
  Object.fromEntries(errors.map(({ code, name }) => [code, `/${name}`])) as never
