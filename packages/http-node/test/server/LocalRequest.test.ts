import { assert, it } from "vitest"
import { isLocalRequest } from "../../src/server/ClientAddress.ts"

const from = (peer: string | undefined, headers: Record<string, string>) => isLocalRequest({ peer, headers })

it("isLocalRequest is true for a loopback peer that names a loopback host", () => {
  for (const peer of ["127.0.0.1", "127.8.9.1", "::1", "::ffff:127.0.0.1"]) {
    for (const host of ["127.0.0.1:8080", "127.0.0.1", "localhost:8080", "LOCALHOST", "[::1]:8080"]) {
      assert.isTrue(from(peer, { host }), `${peer} ${host}`)
    }
  }
})

it("isLocalRequest is false for other peers, other hosts, and requests passed on by a proxy", () => {
  const host = "127.0.0.1:8080"
  for (const peer of [undefined, "10.0.0.1", "::ffff:10.0.0.1", "2001:db8::1", "127.0.0.1.example.com"]) {
    assert.isFalse(from(peer, { host }))
  }
  for (const other of ["one.cabinets.example.com", "localhost.example.com", "10.0.0.1", "127.0.0.1.example.com", ""]) {
    assert.isFalse(from("127.0.0.1", { host: other }))
  }
  assert.isFalse(from("127.0.0.1", {}))
  for (const name of ["x-forwarded-for", "forwarded", "via", "x-real-ip", "x-forwarded-host"]) {
    assert.isFalse(from("127.0.0.1", { host, [name]: "" }), name)
  }
})
