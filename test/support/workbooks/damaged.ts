/** Workbooks with random damage, the same in each run. */
import { CONTENTS } from "./contents.ts"
import { odsWorkbook } from "./odsWorkbooks.ts"
import { ooxmlWorkbook } from "./ooxmlWorkbooks.ts"

export type Random = (below: number) => number

export const random = (seed: number): Random => {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** A byte or a bit changed, the end or some bytes left out, or some repeated elsewhere. */
export const damaged = (bytes: Buffer, next: Random): Buffer => {
  const copy = Buffer.from(bytes)
  const at = next(copy.length)
  switch (next(5)) {
    case 0:
      copy[at] = next(256)
      return copy
    case 1:
      copy[at]! ^= 1 << next(8)
      return copy
    case 2:
      return copy.subarray(0, at)
    case 3:
      return Buffer.concat([copy.subarray(0, at), copy.subarray(Math.min(copy.length, at + 1 + next(20)))])
    default: {
      const from = next(copy.length)
      return Buffer.concat([copy.subarray(0, at), copy.subarray(from, from + 1 + next(50)), copy.subarray(at)])
    }
  }
}

/** A sound archive, some of whose parts were damaged before they were packed. */
export const damagedBook = (next: Random): { readonly file: "xlsx" | "ods"; readonly bytes: Buffer } => {
  const content = CONTENTS[next(CONTENTS.length)]!
  const bytes = (xml: string) => (next(3) === 0 ? damaged(Buffer.from(xml), next) : Buffer.from(xml))
  return next(3) === 0
    ? { file: "ods", bytes: odsWorkbook(content, { name: "damaged", bytes }) }
    : { file: "xlsx", bytes: ooxmlWorkbook(content, { name: "damaged", bytes }) }
}
