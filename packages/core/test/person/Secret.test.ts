import { newSecret, secretFingerprint } from "@data-cabinet/core/person/Secret"
import { createHash } from "node:crypto"
import { expect, it } from "vitest"

it("newSecret returns a new secret each time, which is looked up by its SHA-256", () => {
  for (const kind of ["link", "session"] as const) {
    const secret = newSecret(kind)
    expect(newSecret(kind)).not.toBe(secret)
    expect(secretFingerprint(kind, secret)).toEqual(createHash("sha256").update(secret).digest())
  }
})

it("secretFingerprint is null for a text that is not a secret of the kind", () => {
  const link = newSecret("link")
  expect(secretFingerprint("session", link)).toBeNull()
  expect(secretFingerprint("link", newSecret("session"))).toBeNull()
  for (const text of [
    "",
    "dcl_",
    link.slice(4),
    link.slice(0, -1),
    `${link}A`,
    ` ${link}`,
    `${link}\n`,
    `${link.slice(0, -1)}+`,
  ]) {
    expect(secretFingerprint("link", text)).toBeNull()
  }
})
