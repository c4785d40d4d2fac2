/**
 * Objects that the APIs and the command show, declared once: their members in the program, their JSON with keys in snake case,
 * and its description. A member that is not declared is in no JSON, whatever the object has beside.
 */
import { Schema } from "effect"

type Snake<K extends string> = K extends `${infer Head}${infer Tail}`
  ? `${Head extends Lowercase<Head> ? Head : `_${Lowercase<Head>}`}${Snake<Tail>}`
  : K

type Json<F extends Schema.Struct.Fields> = {
  readonly [K in keyof F & string as Snake<K>]: F[K]["Encoded"]
}

const snake = (key: string): string => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** An object with these members; `about` says what it is. */
export const jsonObject = <const F extends Schema.Struct.Fields>(
  fields: F,
  about: string,
): Schema.Codec<Schema.Struct.Type<F>, Json<F>> =>
  Schema.Struct(fields)
    .pipe(Schema.encodeKeys(Object.fromEntries(Object.keys(fields).map((key) => [key, snake(key)])) as {}))
    .annotate({ description: about }) as never

export const text = (about: string) => Schema.String.annotate({ description: about })
export const flag = (about: string) => Schema.Boolean.annotate({ description: about })
export const whole = (about: string) =>
  Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })).annotate({ description: about })
/** Ids end at 2^53 - 1, so that every JSON reader holds them exactly. */
export const id = (about: string) =>
  Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })).annotate({ description: about })
export const time = (about: string) =>
  Schema.String.annotate({ description: `${about} RFC 3339 in UTC.`, format: "date-time" })
export const oneOf = <const L extends ReadonlyArray<string>>(literals: L, about: string) =>
  Schema.Literals(literals).annotate({ description: about })
export const list = <S extends Schema.Top>(item: S, about: string) =>
  Schema.Array(item).annotate({ description: about })
export const orNull = <S extends Schema.Top>(schema: S) => Schema.NullOr(schema)

/** Writes objects as the APIs show them. */
export const jsonOf = <A, I>(schema: Schema.Codec<A, I>): ((value: A) => I) => {
  const write = Schema.encodeSync(schema)
  return (value) => write(value)
}
