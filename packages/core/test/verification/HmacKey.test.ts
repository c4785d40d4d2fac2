import { createHmac } from "node:crypto"
import { binaryKey } from "@data-cabinet/core/verification/HmacKey"
import { assert, it } from "@effect/vitest"
import { Schema } from "effect"

const Bytes = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 })))
const signed = (key: Parameters<typeof createHmac>[1]) => createHmac("sha256", key).update("a body").digest("hex")

it.prop("binaryKey signs like the raw bytes, of any length, with and without the prefix", [Bytes], ([list]) => {
  const bytes = Buffer.from(list)
  for (const secret of [bytes.toString("base64"), `whsec_${bytes.toString("base64")}`]) {
    const key = binaryKey(secret)
    assert.strictEqual(signed(key), signed(bytes))
    assert.strictEqual(key.symmetricKeySize, bytes.length)
  }
})

it("binaryKey reads invalid base64 as Buffer does", () => {
  for (const secret of ["", "!", "a secret of words", "whsec_whsec_", "ab-_cd"]) {
    assert.strictEqual(signed(binaryKey(secret)), signed(Buffer.from(secret.replace(/^whsec_/, ""), "base64")))
  }
})
