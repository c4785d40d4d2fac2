/** Converts the fields of an event that a program in this process passes directly, without a request body. */
import { Effect, Result } from "effect"
import type { JsonObject } from "../json/Json.ts"
import { IntakeError } from "./IntakeError.ts"
import { parseJson } from "../json/ParseJson.ts"

/**
 * Reads a record of JavaScript values as JSON.stringify writes them (`toJSON` is called, undefined is omitted), except that
 * a bigint keeps all its digits. Fails with `bad_fields` for what JSON cannot represent: a circular structure, and a
 * top-level value that is not an object.
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

// Available in Node 22 and later, but not yet in TypeScript's library.
const rawJson = (JSON as unknown as { readonly rawJSON: (text: string) => unknown }).rawJSON
