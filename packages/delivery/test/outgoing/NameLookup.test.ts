import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { NameLookup, type NameLookupOptions, inHostsFile, layer } from "@data-cabinet/delivery/outgoing/NameLookup"
import { Effect } from "effect"
import { expect, it } from "vitest"
import { nameServer } from "./hostileReceivers.ts"

const lookup = (name: string, options: NameLookupOptions) =>
  Effect.runPromise(NameLookup.use((names) => names.addresses(name)).pipe(Effect.provide(layer(options))))

it("inHostsFile reads names and aliases, and no comments", () => {
  const file =
    "127.0.0.1 localhost # here\n#10.0.0.9 inner\n10.0.0.1\tinner  Inner.Example\nfe80::1%lo0 inner\nnonsense inner\n::1 inner"
  expect(inHostsFile(file, "inner")).toEqual(["10.0.0.1", "::1"])
  expect(inHostsFile(file, "inner.example")).toEqual(["10.0.0.1"])
  expect(inHostsFile(file, "here")).toEqual([])
})

it("addresses uses the hosts file first, knows localhost, and the name servers last", async () => {
  const dir = mkdtempSync(join(tmpdir(), "dc-hosts-"))
  const hostsFile = join(dir, "hosts")
  writeFileSync(hostsFile, "10.0.0.1 inner.test\n")
  const server = await nameServer({ "inner.test": () => ["192.0.2.1"], "outer.test": () => ["192.0.2.2", "192.0.2.3"] })
  const options = { servers: [server.server], hostsFile }
  expect(await lookup("inner.test", options)).toEqual(["10.0.0.1"])
  expect(await lookup("LOCALHOST", options)).toEqual(["127.0.0.1", "::1"])
  expect(await lookup("a.localhost.", options)).toEqual(["127.0.0.1", "::1"])
  expect(server.queries()).toBe(0)
  expect(await lookup("Outer.test.", options)).toEqual(["192.0.2.2", "192.0.2.3"])
  await expect(lookup("none.test", options)).rejects.toMatchObject({ code: "name_not_found" })
  await server.close()
  rmSync(dir, { recursive: true })
})
