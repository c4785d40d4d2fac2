import { randomBytes } from "node:crypto"
import { isEncrypted, SecretCipher } from "@data-cabinet/store-pg/key/SecretCipher"
import { decryptHeaders, encryptHeaders } from "@data-cabinet/store-pg/key/StoredHeaders"
import { Result } from "effect"
import { expect, it } from "vitest"

const [one, other] = [randomBytes(32), randomBytes(32)]
const TEXTS = ["", "whsec_abc", "enc.v1.00000000.AAAA", "ключ 🔑\u0000", "x".repeat(100_000)]

it("any secret is restored unchanged, and is unreadable in its stored form", () => {
  const cipher = new SecretCipher([one])
  for (const text of TEXTS) {
    const stored = cipher.encrypt("signing secret", text)
    expect([isEncrypted(stored), stored.startsWith(cipher.prefix!)]).toEqual([true, true])
    if (text.length > 3) expect(stored).not.toContain(text)
    expect(stored).not.toBe(cipher.encrypt("signing secret", text))
    expect(cipher.decrypt("signing secret", stored)).toEqual(Result.succeed(text))
  }
})

it("any changed character, and another purpose, makes a value invalid", () => {
  const cipher = new SecretCipher([one])
  const stored = cipher.encrypt("signing secret", "whsec_abc")
  const from = cipher.prefix!.length
  for (let at = from; at < stored.length; at++) {
    // The last character may have bits that belong to no byte.
    for (const letter of at === stored.length - 1 ? [] : ["A", "B"]) {
      if (stored[at] === letter) continue
      const changed = stored.slice(0, at) + letter + stored.slice(at + 1)
      expect(cipher.decrypt("signing secret", changed), `at ${at}`).toEqual(Result.fail("damaged"))
    }
  }
  for (const cut of [stored.slice(0, from + 4), stored.slice(0, -4), `${stored}AAAA`, "enc.v1.", "enc.v1.zz.AAAA"]) {
    expect(cipher.decrypt("signing secret", cut)).toEqual(Result.fail("damaged"))
  }
  expect(cipher.decrypt("poll header", stored)).toEqual(Result.fail("damaged"))
})

it("the first key encrypts, every key decrypts, and a missing one is named by its id", () => {
  const before = new SecretCipher([one])
  const during = new SecretCipher([other, one])
  const after = new SecretCipher([other])
  const stored = before.encrypt("signing secret", "a")
  expect(during.decrypt("signing secret", stored)).toEqual(Result.succeed("a"))
  expect(during.prefix).toBe(after.prefix)
  const id = before.prefix!.split(".")[2]!
  expect(after.decrypt("signing secret", stored)).toEqual(Result.fail({ missingKey: id }))
  expect(one.toString("hex")).not.toContain(id)
  expect(new SecretCipher([]).decrypt("signing secret", stored)).toEqual(Result.fail({ missingKey: id }))
})

it("without a first key, new secrets are stored in plain text and encrypted ones can be read", () => {
  const cipher = new SecretCipher([null, one])
  expect([cipher.prefix, cipher.encrypt("signing secret", "a")]).toEqual([null, "a"])
  const stored = new SecretCipher([one]).encrypt("signing secret", "a")
  expect(cipher.decrypt("signing secret", stored)).toEqual(Result.succeed("a"))
})

it("a header's value that looks encrypted is still a plain value", () => {
  const headers = [
    ["X-Token", "enc.v1.00000000.AAAA"],
    ["X-Other", ""],
  ] as const
  for (const cipher of [new SecretCipher([]), new SecretCipher([one])]) {
    const stored = JSON.parse(JSON.stringify(encryptHeaders(cipher, "poll header", headers))) as typeof headers
    expect(stored.map(([name]) => name)).toEqual(["X-Token", "X-Other"])
    expect(Result.getOrThrow(decryptHeaders(cipher, "poll header", stored))).toEqual(headers)
  }
})
