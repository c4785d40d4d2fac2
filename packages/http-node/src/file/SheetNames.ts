/** The sheets of a workbook, and the choice of one. Takes time linear in the length of the list. */

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" }

const unescaped = (text: string): string =>
  text.replace(
    /&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|([a-z]{1,4}));/gi,
    (whole, hex: string, decimal: string, name: string) => {
      if (name !== undefined) return ENTITIES[name] ?? whole
      const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole
    },
  )

interface Sheet {
  readonly name: string
  readonly shown: boolean
}

/** The attributes of each element `sheet`, whatever its prefix. An unclosed element ends the reading. */
const sheetTags = (xml: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  for (let at = xml.indexOf("<"); at !== -1; at = xml.indexOf("<", at)) {
    const end = xml.indexOf(">", at)
    if (end === -1) break
    const space = nameEnd(xml, at + 1, end)
    const name = xml.slice(at + 1, space)
    if (space < end && (name === "sheet" || name.endsWith(":sheet"))) found.push(xml.slice(space, end))
    at = end
  }
  return found
}

const nameEnd = (xml: string, from: number, end: number): number => {
  for (let at = from; at < end; at++) if (xml.charCodeAt(at) <= 32) return at
  return end
}

/** In the workbook's order. */
const sheetsOf = (xml: string): ReadonlyArray<Sheet> =>
  sheetTags(xml).flatMap((attributes) => {
    const name = /\sname="([^"]*)"/.exec(attributes)?.[1] ?? /\sname='([^']*)'/.exec(attributes)?.[1]
    if (name === undefined) return []
    return [{ name: unescaped(name), shown: !/\sstate=["'](?:hidden|veryHidden)["']/.test(attributes) }]
  })

/**
 * The sheet of this name, or of this number from 1; without either the first visible one. A reason if there is none. `xml`
 * is the workbook's own part.
 */
export const chooseSheet = (
  xml: string,
  wanted: string | undefined,
): { readonly index: number; readonly name: string } | { readonly missing: string } => {
  const sheets = sheetsOf(xml)
  const byName =
    wanted === undefined ? sheets.findIndex(({ shown }) => shown) : sheets.findIndex(({ name }) => name === wanted)
  const number = wanted !== undefined && /^[1-9]\d{0,3}$/.test(wanted) ? Number(wanted) - 1 : 0
  const index = byName !== -1 ? byName : number
  const sheet = byName === -1 && wanted !== undefined && !/^\d+$/.test(wanted) ? undefined : sheets[index]
  if (sheet !== undefined) return { index, name: sheet.name }
  const names = sheets
    .slice(0, 50)
    .map(({ name }) => name)
    .join(", ")
  return {
    missing:
      sheets.length === 0 ? "it lists no sheets" : `it has no sheet ${wanted}; its sheets are ${names.slice(0, 500)}`,
  }
}
