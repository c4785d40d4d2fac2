/** Declared settings in the bodies of requests, and their errors. */
import type { Snake } from "@data-cabinet/core/json/KeyCase"
import type { AnySetting, SettingCode, Settings } from "@data-cabinet/core/json/Setting"
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
    case "whole":
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

type SettingFields<S> = {
  readonly [K in keyof S as Snake<K>]: Schema.optionalKey<Schema.Codec<S[K]>>
}

/** A field of each setting, which a body may lack. */
export const settingFields = <S, D>({ all }: Settings<S, D>): SettingFields<S> =>
  Object.fromEntries(all.map(({ name, setting }) => [name, Schema.optionalKey(fieldOf(setting))])) as never

/** The member of a body that each error is about. */
export const settingParams = <S, D>({ errors }: Settings<S, D>): Readonly<Record<SettingCode<D>, string>> =>
  Object.fromEntries(errors.map(({ code, name }) => [code, `/${name}`])) as never
