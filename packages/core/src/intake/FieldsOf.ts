/** The fields of an event that a program of this process hands over, instead of sending a body. */
import { Effect, Result } from "effect"
import type { JsonObject } from "../json/Json.ts"
import { IntakeError } from "./IntakeError.ts"
import { parseJson } from "../json/ParseJson.ts"

/**
 * Reads a record of JavaScript values as JSON writes them (`toJSON` is called, undefined is left out); a bigint keeps all its
 * digits. Refuses, as `bad_fields`, what JSON cannot write: a circle, and anything that is not an object at the top.
 */
export const fieldsOf = (fields: Readonly<Record<string, unknown>>): Effect.Effect<JsonObject, IntakeError> =>
  Effect.suspend(() => {
    let text: string | undefined
    try {
      text = JSON.stringify(fields, (_key, value: unknown) => (typeof value === "bigint" ? rawJson(`${value}`) : value))
    } catch (cause) {
      return refuse(cause instanceof Error ? cause.message : "they cannot be written as JSON")
    }
    const parsed = text === undefined ? undefined : parseJson(text)
    if (parsed === undefined || Result.isFailure(parsed)) return refuse("they cannot be written as JSON")
    return parsed.success instanceof Map ? Effect.succeed(parsed.success) : refuse("they are not an object")
  })

const refuse = (reason: string) =>
  Effect.fail(new IntakeError({ code: "bad_fields", message: `The fields were not accepted: ${reason}` }))

// In Node 22 and later, not yet in TypeScript's library.
const rawJson = (JSON as unknown as { readonly rawJSON: (text: string) => unknown }).rawJSON
