/** Addresses and networks are parsed as by Node's own parser and BlockList, compared on random and malformed texts. */
import { BlockList, isIP } from "node:net"
import { contains, parseIp, parseNetwork } from "@data-cabinet/core/network/IpAddress"
import { assert, it } from "@effect/vitest"
import { type Random, randomOf, seeded } from "../../../../test/support/random.ts"

const dotted = (random: Random): string =>
  Array.from({ length: 4 }, () => randomOf(random, [random(256), random(10), 0, 255])).join(".")

const group = (random: Random): string =>
  randomOf(random, ["0", random(65_536).toString(16), random(16).toString(16).toUpperCase(), "0001", "ffff"])

/** Well formed: all groups, or some of them with two colons for the rest, optionally ending in an IPv4 address. */
const colons = (random: Random): string => {
  const end = random(4) === 0 ? [dotted(random)] : []
  const groups = [...Array.from({ length: 8 - 2 * end.length }, () => group(random)), ...end]
  if (random(3) === 0) return groups.join(":")
  const from = random(groups.length)
  const to = from + 1 + random(groups.length - from)
  return `${groups.slice(0, from).join(":")}::${groups.slice(to).join(":")}`
}

const address = (random: Random): string => (random(2) === 0 ? dotted(random) : colons(random))

const SIGNS = [..."0129afg:./-[] x%", "::", "00", "256", "٣"]

/** One to three characters inserted, removed or replaced. */
const broken = (random: Random, text: string): string => {
  let next = text
  for (let times = 1 + random(3); times > 0; times--) {
    const at = random(next.length + 1)
    next = next.slice(0, at) + (random(3) === 0 ? "" : randomOf(random, SIGNS)) + next.slice(at + random(3))
  }
  return next
}

const canonical = (text: string): string =>
  text.includes(":") ? new URL(`http://[${text}]`).hostname : new URL(`http://${text}`).hostname

it("an address is valid, and normalized, exactly as in Node", () => {
  const random = seeded(20261124)
  let addresses = 0
  for (let n = 0; n < 60_000; n++) {
    const whole = address(random)
    const text = random(3) === 0 ? whole : broken(random, whole)
    if (text.includes("%") || text.startsWith("[")) continue
    const read = parseIp(text)
    assert.strictEqual(read?.family ?? 0, isIP(text), text)
    if (read === null) continue
    addresses++
    const hex = read.value.toString(16).padStart(read.family === 4 ? 8 : 32, "0")
    const plain =
      read.family === 4 ? Array.from(Buffer.from(hex, "hex")).join(".") : hex.replaceAll(/(.{4})(?!$)/g, "$1:")
    assert.strictEqual(canonical(plain), canonical(text), text)
  }
  assert.isAtLeast(addresses, 20_000)
})

it("a network contains the same addresses as Node's BlockList", () => {
  const random = seeded(20261125)
  let held = 0
  for (let n = 0; n < 20_000; n++) {
    const base = address(random)
    const isV6 = base.includes(":")
    const prefix = random((isV6 ? 128 : 32) + 1)
    const other = random(2) === 0 ? address(random) : base.slice(0, -1) + randomOf(random, ["0", "1", "9"])
    const ip = parseIp(other)
    if (ip === null || (ip.family === 6) !== isV6) continue
    const list = new BlockList()
    list.addSubnet(base, prefix, isV6 ? "ipv6" : "ipv4")
    const network = parseNetwork(`${base}/${prefix}`)!
    assert.strictEqual(contains(network, ip), list.check(other, isV6 ? "ipv6" : "ipv4"), `${other} in ${network.text}`)
    if (contains(network, ip)) held++
  }
  assert.isAtLeast(held, 1_000)
})

it.each(["10.0.0.0/33", "10.0.0.0/", "10.0.0.0/8/8", "10.0.0.0/-1", "::/129", "10.0.0/8", "fe80::%eth0/64", ""])(
  "%s is not a network",
  (text) => assert.isNull(parseNetwork(text)),
)

it("parseIp accepts both brackets of a URL, or none", () => {
  assert.deepStrictEqual(parseIp("[2001:db8::1]"), parseIp("2001:db8::1"))
  for (const text of ["[2001:db8::1", "2001:db8::1]", "[]", "[[::1]]"]) assert.isNull(parseIp(text), text)
})

it("parseNetwork accepts an address with or without a prefix; families never match", () => {
  assert.deepInclude(parseNetwork(" 10.1.2.3 "), { text: "10.1.2.3", prefix: 32 })
  assert.deepInclude(parseNetwork("10.1.2.3/032"), { text: "10.1.2.3/032", prefix: 32 })
  assert.deepInclude(parseNetwork("::/0"), { prefix: 0, base: 0n })
  for (const text of ["10.0.0.0/8x", "10.0.0.0/x8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/8/8", "10.0.0.0/-1"])
    assert.isNull(parseNetwork(text), text)
  assert.isFalse(contains(parseNetwork("0.0.0.0/0")!, parseIp("::1")!))
  assert.isFalse(contains(parseNetwork("::/0")!, parseIp("127.0.0.1")!))
})
