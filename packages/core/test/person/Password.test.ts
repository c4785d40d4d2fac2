/** Which passwords may be set, and which one is accepted. */
import { scryptSync } from "node:crypto"
import {
  checkPassword,
  hashPassword,
  MAX_PASSWORD_LENGTH,
  MIN_PASSWORD_LENGTH,
  verifyPassword,
} from "@data-cabinet/core/person/Password"
import { Effect, Result } from "effect"
import { expect, it } from "vitest"

const refusalOf = (password: string, name = "Ada"): string | null => {
  const checked = Effect.runSync(Effect.result(checkPassword(password, name)))
  if (Result.isSuccess(checked)) return null
  expect(checked.failure.code).toBe("bad_password")
  expect(checked.failure.message).not.toContain(password)
  return checked.failure.message
}

/** The form that `hashPassword` stores, with cheaper parameters. */
const kept = (password: string, bytes = 32) => {
  const salt = Buffer.from("salt of a person")
  const derived = scryptSync(password, salt, 32, { N: 16, r: 2, p: 1 }).subarray(0, bytes)
  return ["scrypt", 4, 2, 1, salt.toString("base64url"), derived.toString("base64url")].join("$")
}

const LETTERS = "tree lamp sofa door wall roof ".repeat(7)

it("checkPassword accepts twelve to two hundred characters", () => {
  expect(refusalOf(LETTERS.slice(0, MIN_PASSWORD_LENGTH - 1))).toMatch(/at least 12/)
  expect(refusalOf(LETTERS.slice(0, MIN_PASSWORD_LENGTH))).toBeNull()
  expect(refusalOf(LETTERS.slice(0, MAX_PASSWORD_LENGTH))).toBeNull()
  expect(refusalOf(LETTERS.slice(0, MAX_PASSWORD_LENGTH + 1))).toMatch(/at most 200/)
  // Of two code units each.
  expect(refusalOf("🐱🐶🐭🐹🐰🦊🐻🐼🐨🐯🦁")).toMatch(/at least 12/)
})

it.each([
  "correcthorsebatterystaple",
  "CorrectHorseBatteryStaple",
  "ｃorrecthorsebatterystaple",
  "data-cabinet",
  "password1234",
  "qwertyqwerty1",
  "aaaaaaaaaaaa",
  "abcabcabcabcabc",
  "qazwsxqazwsx",
  "qazwsxqazwsx123",
  "tobtobtobtobtobtobtob",
  "opasdfghjklz",
  "zlkjhgfdsapo",
  "234567890123",
  "йцукенгшщзхъ",
])("checkPassword refuses the easily guessed %s", (password) => {
  expect(refusalOf(password)).toMatch(/too common/)
})

it.each(["qazwsxqazwsx1234", "1qazwsxqazwsx", "opasdfghjklzy", "a long walk at dusk"])(
  "checkPassword accepts %s",
  (password) => {
    expect(refusalOf(password)).toBeNull()
  },
)

it("checkPassword refuses a password that barely differs from the name, in any case and normalization", () => {
  expect(refusalOf("AdaLovelace12345", "adalovelace")).toMatch(/similar to the name/)
  expect(refusalOf("adalovelace-12345", "AdaLovelace")).toBeNull()
  expect(refusalOf("Zoe\u0308 Adler-Smith 12", "Zo\u00eb Adler-Smith")).toMatch(/similar to the name/)
  expect(refusalOf("Zo\u00eb Adler-Smith 12", "Zoe\u0308 Adler-Smith")).toMatch(/similar to the name/)
})

it("verifyPassword accepts exactly the password, from any keyboard", async () => {
  const opens = (given: string, stored: string | null) => Effect.runPromise(verifyPassword(given, stored))
  expect(await opens("a long walk", kept("a long walk"))).toBe(true)
  expect(await opens("A long walk", kept("a long walk"))).toBe(false)
  expect(await opens("", kept("a long walk"))).toBe(false)
  expect(await opens("Zoe\u0308's long walk", kept("Zo\u00eb's long walk"))).toBe(true)
})

it("verifyPassword refuses a prefix of the stored hash, and a missing one", async () => {
  for (const bytes of [0, 31]) {
    expect(await Effect.runPromise(verifyPassword("a long walk", kept("a long walk", bytes)))).toBe(false)
  }
  expect(await Effect.runPromise(verifyPassword("", null))).toBe(false)
})

it("hashPassword stores the cost and a new salt with the hash", async () => {
  const [one, other] = await Promise.all([
    Effect.runPromise(hashPassword("Zoe\u0308's long walk")),
    Effect.runPromise(hashPassword("Zoe\u0308's long walk")),
  ])
  expect(one).toMatch(/^scrypt\$15\$8\$3\$[\w-]{22}\$[\w-]{43}$/)
  expect(other).not.toBe(one)
  expect(await Effect.runPromise(verifyPassword("Zo\u00eb's long walk", one))).toBe(true)
})
