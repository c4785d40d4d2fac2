/** The sheets of a workbook: which there are, and which one is meant. */
import { partText } from "./ZipDirectory.ts"

const MAX_BYTES = 4 * 1024 ** 2

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" }

const unescaped = (text: string): string =>
  text.replace(/&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi, (whole, hex: string, decimal: string, name: string) => {
    if (name !== undefined) return ENTITIES[name] ?? whole
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole
  })

interface Sheet {
  readonly name: string
  readonly shown: boolean
}

/** In the workbook's order; empty where its list cannot be read. */
const sheetsOf = (bytes: Uint8Array): ReadonlyArray<Sheet> => {
  const xml = partText(bytes, "xl/workbook.xml", MAX_BYTES) ?? ""
  return [...xml.matchAll(/<(?:\w+:)?sheet\s([^>]*)>/g)].flatMap(([, attributes]) => {
    const name = /\bname="([^"]*)"/.exec(attributes!)?.[1] ?? /\bname='([^']*)'/.exec(attributes!)?.[1]
    if (name === undefined) return []
    return [{ name: unescaped(name), shown: !/\bstate=["'](?:hidden|veryHidden)["']/.test(attributes!) }]
  })
}

/** The sheet of this name, or of this number from 1; without either the first that is shown. A reason where there is none. */
export const chooseSheet = (
  bytes: Uint8Array,
  wanted: string | undefined,
): { readonly index: number; readonly name: string } | { readonly missing: string } => {
  const sheets = sheetsOf(bytes)
  const byName =
    wanted === undefined ? sheets.findIndex(({ shown }) => shown) : sheets.findIndex(({ name }) => name === wanted)
  const number = wanted !== undefined && /^[1-9]\d{0,3}$/.test(wanted) ? Number(wanted) - 1 : 0
  const index = byName !== -1 ? byName : number
  const sheet = byName === -1 && wanted !== undefined && !/^\d+$/.test(wanted) ? undefined : sheets[index]
  if (sheet !== undefined) return { index, name: sheet.name }
  const names = sheets.map(({ name }) => name).join(", ")
  return {
    missing: sheets.length === 0 ? "it lists no sheets" : `it has no sheet ${wanted}, but: ${names.slice(0, 500)}`,
  }
}
