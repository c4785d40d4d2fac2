import { createHmac } from "node:crypto"
import { assert, it } from "@effect/vitest"
import { Schema } from "effect"
import { describe, expect } from "vitest"
import { signDelivery, standardHeaders } from "@data-cabinet/core/delivery/Signature"
import { verifyDelivery } from "@data-cabinet/core/delivery/VerifyDelivery"
import vectors from "../../../../examples/receivers/vectors.json" with { type: "json" }

const at = (t: number) => ({ now: new Date(t * 1000) })
const bytes = (text: string) => new TextEncoder().encode(text)

describe("signDelivery", () => {
  it.each(vectors.vectors.map((vector) => [vector.name, vector] as const))(
    "reproduces the published vector: %s",
    (_name, vector) => {
      expect(signDelivery(bytes(vector.body), vector.secrets, vector.t)).toBe(vector.header)
    },
  )

  it("signs the raw bytes, even if they are not text", () => {
    const body = new Uint8Array([0xff, 0x00, 0xfe])
    const hex = createHmac("sha256", "s")
      .update(Buffer.concat([Buffer.from("1."), body]))
      .digest("hex")
    expect(signDelivery(body, ["s"], 1)).toBe(`t=1,v1=${hex}`)
  })
})

describe("standardHeaders", () => {
  it("uses the secret's decoded base64 as key, with or without whsec_, and signs id and time", () => {
    const key = Buffer.from("a key of twenty-four byte")
    const hex = createHmac("sha256", key).update("7.1000.{}").digest("base64")
    const secret = key.toString("base64")
    for (const secrets of [[secret], [`whsec_${secret}`]]) {
      expect(standardHeaders(7, bytes("{}"), secrets, 1000)).toEqual({
        "webhook-id": "7",
        "webhook-timestamp": "1000",
        "webhook-signature": `v1,${hex}`,
      })
    }
    const { "webhook-signature": both } = standardHeaders(7, bytes("{}"), [secret, "b3RoZXI="], 1000)
    const other = createHmac("sha256", "other").update("7.1000.{}").digest("base64")
    expect(both).toBe(`v1,${hex} v1,${other}`)
  })
})

const Bytes = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 })))
const Secret = Schema.String.check(Schema.isPattern(/^[!-~]{1,40}$/))
const Time = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 4_000_000_000 }))

describe("verifyDelivery", () => {
  it.prop(
    "is true for a header of signDelivery, and false after any change of a byte",
    [Bytes, Secret, Time],
    ([raw, secret, t]) => {
      const body = new Uint8Array(raw)
      const header = signDelivery(body, [secret], t)
      assert.isTrue(verifyDelivery(body, header, secret, at(t)))
      assert.isFalse(verifyDelivery(body, header, `${secret}x`, at(t)))
      assert.isFalse(verifyDelivery(new Uint8Array([...raw, 0]), header, secret, at(t)))
      if (raw.length > 0)
        assert.isFalse(
          verifyDelivery(
            body.map((byte, n) => (n === 0 ? byte ^ 1 : byte)),
            header,
            secret,
            at(t),
          ),
        )
      assert.isFalse(verifyDelivery(body, header.replace(`t=${t}`, `t=${t + 1}`), secret, at(t)))
    },
    { arbitrary: { runs: 100 } },
  )

  it("accepts either secret while one replaces the other", () => {
    const header = signDelivery(bytes("{}"), ["new", "old"], 1000)
    for (const secret of ["new", "old"]) expect(verifyDelivery("{}", header, secret, at(1000))).toBe(true)
    expect(verifyDelivery("{}", header, "older", at(1000))).toBe(false)
  })

  it("has a tolerance of five minutes in either direction", () => {
    const header = signDelivery(bytes("{}"), ["s"], 1000)
    for (const [now, verdict] of [
      [700, true],
      [699, false],
      [1300, true],
      [1301, false],
    ] as const) {
      expect(verifyDelivery("{}", header, "s", at(now))).toBe(verdict)
    }
    expect(verifyDelivery("{}", header, "s", { ...at(2000), toleranceSeconds: 1000 })).toBe(true)
  })

  it.each([
    null,
    undefined,
    "",
    "t=1000",
    "v1=00",
    "t=,v1=",
    "t=1e3,v1=aa",
    "t=99999999999999,v1=aa",
    `t=1000,v1=${"g".repeat(64)}`,
    `t=1000,v2=${"a".repeat(64)}`,
  ])("is false and does not throw for the header %s", (header) => {
    expect(verifyDelivery("{}", header, "s", at(1000))).toBe(false)
  })

  it.each([
    ["toleranceSeconds NaN", { ...at(9_000_000), toleranceSeconds: Number.NaN }],
    ["toleranceSeconds Infinity", { ...at(9_000_000), toleranceSeconds: Number.POSITIVE_INFINITY }],
    ["toleranceSeconds below zero", { ...at(1000), toleranceSeconds: -1 }],
    ["toleranceSeconds a text", { ...at(9_000_000), toleranceSeconds: "5 minutes" }],
    ["toleranceSeconds a number's text", { ...at(1000), toleranceSeconds: "300" }],
    ["toleranceSeconds an object", { ...at(1000), toleranceSeconds: {} }],
    ["now no date", { now: new Date(Number.NaN) }],
    ["now a number", { now: 1_000_000 }],
    ["now a text", { now: "1970-01-01T00:16:40Z" }],
    ["now an object", { now: { getTime: (): number => 1_000_000 } }],
  ])("is false and does not throw for impossible options: %s", (_name, options) => {
    const header = signDelivery(bytes("{}"), ["s"], 1000)
    expect(verifyDelivery("{}", header, "s", options as never)).toBe(false)
  })

  it.each([undefined, null, 0, true, {}, [], { type: "ping" }, Symbol("s"), 1n])(
    "is false and does not throw for a missing body, secret, header or options: %s",
    (nothing) => {
      const header = signDelivery(bytes("{}"), ["s"], 1000)
      expect(verifyDelivery(nothing as never, header, "s", at(1000))).toBe(false)
      expect(verifyDelivery("{}", header, nothing as never, at(1000))).toBe(false)
      expect(verifyDelivery("{}", nothing as never, "s", at(1000))).toBe(false)
      // Without options the current time applies, long after the signature's.
      expect(verifyDelivery("{}", header, "s", nothing as never)).toBe(false)
    },
  )

  it("accepts a body as bytes of any type", () => {
    const header = signDelivery(bytes("{}"), ["s"], 1000)
    const held = bytes("{}").buffer
    for (const body of ["{}", Buffer.from("{}"), new Uint8Array(held), new DataView(held) as never]) {
      expect(verifyDelivery(body, header, "s", at(1000))).toBe(true)
    }
  })

  const signed = (t: string) => createHmac("sha256", "s").update(`${t}.{}`).digest("hex")
  const right = signed("1000")
  const wrong = "0".repeat(64)

  it.each([
    `t=1000, v1=${right}`,
    ` v1=${right} , t=1000 `,
    `v1=${wrong},t=1000,v1=${right}`,
    `t=1000,${`v1=${wrong},`.repeat(7)}v1=${right}`,
    `t=1000,${`v0=${wrong},`.repeat(8)}v1=${right}`,
  ])("ignores other text in the header beside the signature: %s", (header) => {
    expect(verifyDelivery("{}", header, "s", { ...at(1000), toleranceSeconds: 0 })).toBe(true)
  })

  it.each([
    `t=1000,v0=${right}`,
    `t=1000,v1=${right.toUpperCase()}`,
    `t=1000,v1=${right}zz`,
    `t=1000,v1=00${right}`,
    `t=1000,${`v1=${wrong},`.repeat(8)}v1=${right}`,
    `t= 1000,v1=${signed(" 1000")}`,
    `t=1e3,v1=${signed("1e3")}`,
    `t=0x3e8,v1=${signed("0x3e8")}`,
  ])("is false for a signature or a time in another form: %s", (header) => {
    expect(verifyDelivery("{}", header, "s", at(1000))).toBe(false)
  })

  it("is false for an empty secret, with which anyone could sign", () => {
    expect(verifyDelivery("{}", signDelivery(bytes("{}"), [""], 1000), "", at(1000))).toBe(false)
  })
})
