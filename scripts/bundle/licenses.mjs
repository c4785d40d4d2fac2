/** The licences of the bundled packages, which require to be distributed with them. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

/** One text for each package in `node_modules` that the modules at `ids` are part of. */
export const noticesOf = (ids) => {
  const roots = new Set(ids.flatMap((id) => /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(id) ?? []))
  return [...roots].map((at) => {
    const { name, version, license } = JSON.parse(readFileSync(join(at, "package.json"), "utf8"))
    const file = readdirSync(at).find((entry) => /^licen[cs]e/i.test(entry))
    const text = file === undefined ? `${license}\n` : readFileSync(join(at, file), "utf8")
    return `${name} ${version}\n\n${text}`
  })
}

/** All of them in one text. */
export const licenses = (ids) => noticesOf(ids).join(`\n${"-".repeat(80)}\n\n`)
