/**
 * A backup gets its name once it is complete. The next backup into the same directory removes the remains of a killed
 * one.
 */
import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { hostname, tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, assert, beforeEach, it } from "vitest"
import { createArchive } from "@data-cabinet/store-pg/embedded/BackupArchive"

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "data-cabinet-archive-"))
})
afterEach(() => rmSync(folder, { recursive: true }))

const options = (name: string) => ({ file: join(folder, name), wrote: () => {} })

/** A process that begins an archive and is killed halfway. */
const killed = async (name: string) => {
  const module = new URL("../../src/embedded/BackupArchive.ts", import.meta.url).href
  const code = `
    const { createArchive } = await import(${JSON.stringify(module)})
    const archive = await createArchive({ file: ${JSON.stringify(join(folder, name))}, wrote: () => {} })
    await archive.text("a", Buffer.alloc(3_000_000, 1))
    console.log("begun")
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ["--input-type=module", "-e", code], { stdio: ["ignore", "pipe", "inherit"] })
  await once(child.stdout, "data")
  child.kill("SIGKILL")
  await once(child, "close")
}

it("createArchive leaves nothing under the archive's name when it is killed, and the next one removes the rest", async () => {
  await killed("one.tar.gz")
  assert.match(readdirSync(folder).join(), /^one\.tar\.gz\.[\w-]+\.\d+\.cabinet-partial$/)
  const next = await createArchive(options("two.tar"))
  await next.text("a", "b")
  await next.finish()
  assert.deepEqual(readdirSync(folder), ["two.tar"])
})

it("discard removes an archive, unfinished or finished", async () => {
  for (const work of ["text", "finish"] as const) {
    const archive = await createArchive(options("three.tar.gz"))
    const working = work === "text" ? archive.text("a", Buffer.alloc(30_000_000, 1)) : archive.finish()
    const ended = working.then(
      () => "done",
      () => "given up",
    )
    await archive.discard()
    assert.strictEqual(await ended, "given up", work)
    assert.deepEqual(readdirSync(folder), [])
  }
})

it("createArchive removes only the remains of dead processes of this machine", async () => {
  const dead = Number(execFileSync(process.execPath, ["-p", "process.pid"]))
  const host = hostname().replaceAll(/[^\w-]/g, "-")
  const kept = [
    `a.tar.${host}.${process.ppid}.cabinet-partial`,
    `a.tar.elsewhere-of-${host}.${dead}.cabinet-partial`,
    `a.tar.${dead}.partial`,
    "notes.cabinet-partial",
  ]
  for (const name of [
    ...kept,
    `a.tar.${host}.${dead}.cabinet-partial`,
    `b.gz.${host}.${process.pid}.cabinet-partial`,
  ]) {
    writeFileSync(join(folder, name), "x")
  }
  mkdirSync(join(folder, "sub"))
  const archive = await createArchive(options("c.tar"))
  await archive.discard()
  assert.deepEqual(readdirSync(folder).toSorted(), [...kept, "sub"].toSorted())
})
