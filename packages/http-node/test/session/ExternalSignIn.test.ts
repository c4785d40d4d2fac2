import { type Network, parseNetworks } from "@data-cabinet/core/network/IpAddress"
import { trustedProxies } from "@data-cabinet/http-node/server/ClientAddress"
import { fitsPerson, namedByProxy } from "@data-cabinet/http-node/session/ExternalSignIn"
import { expect, it } from "vitest"

const isProxy = trustedProxies(parseNetworks("10.0.0.0/8") as ReadonlyArray<Network>)
const named = (value: string | undefined, peer: string | undefined = "10.1.2.3") =>
  namedByProxy({ header: "remote-user", isProxy }, { peer, headers: { "remote-user": value } })

it("namedByProxy accepts a UTF-8 header from the proxy, however its address is written", () => {
  expect(named("ada")).toEqual({ subject: "ada" })
  expect(named(" ada@example.com ", "::ffff:10.1.2.3")).toEqual({ subject: "ada@example.com" })
  expect(named(Buffer.from("Ирина").toString("latin1"))).toEqual({ subject: "Ирина" })
})

it.each([["11.1.2.3"], ["::1"], [""], ["nonsense"]])("namedByProxy ignores %s", (peer) => {
  expect(named("ada", peer)).toBe("untrusted")
})

it("namedByProxy accepts no header without a socket, and treats an empty header as missing", () => {
  expect(
    namedByProxy(
      { header: "remote-user", isProxy: () => true },
      { peer: undefined, headers: { "remote-user": "ada" } },
    ),
  ).toBe("untrusted")
  for (const value of [undefined, "", "  "]) expect(named(value)).toBeNull()
})

it("namedByProxy identifies nobody by a header that is repeated, too long, or not UTF-8", () => {
  for (const value of ["ada, root", "ada,", "x".repeat(201), "\xff\xfe"]) expect(named(value)).toBe("unfit")
})

it("fitsPerson refuses a header with another meaning, or one whose repetition Node drops", () => {
  for (const header of ["remote-user", "x-forwarded-user", "x_user"]) expect(fitsPerson(header)).toBe(true)
  for (const header of ["from", "cookie", "authorization", "host", "x-forwarded-for", "user-agent", "a b", "", "é"]) {
    expect(fitsPerson(header)).toBe(false)
  }
})
