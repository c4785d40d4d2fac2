/** All workbooks of the corpus: each content in each way that can write it. */
import { type Content, CONTENTS } from "./contents.ts"
import { ODS_WAYS, odsWorkbook } from "./odsWorkbooks.ts"
import { ooxmlWorkbook, type Way } from "./ooxmlWorkbooks.ts"
import { ASCII_WAY, DENSE_WAYS, WAYS } from "./ooxmlWays.ts"

export interface CorpusWorkbook {
  readonly name: string
  readonly file: "xlsx" | "ods"
  readonly content: Content
  /** Why LibreOffice shows other cells, or none. */
  readonly elsewhere: string | undefined
  readonly bytes: () => Buffer
}

const isDense = ({ rows }: Content) =>
  rows.every(({ line, cells }, n) => line === n + 1 && cells.every((cell) => cell !== null))

const isWestern = ({ rows }: Content) =>
  rows.every(({ cells }) =>
    cells.every((cell) => typeof cell?.read !== "string" || /^[\n -~А-яЁё«»]*$/.test(cell.read)),
  )

const waysOf = (content: Content): ReadonlyArray<Way> => [
  ...WAYS,
  ...(isDense(content) ? DENSE_WAYS : []),
  ...(isWestern(content) ? [ASCII_WAY] : []),
]

export const corpus = (): ReadonlyArray<CorpusWorkbook> =>
  CONTENTS.flatMap((content) => [
    ...waysOf(content).map((way): CorpusWorkbook => ({
      name: `${content.name}, XLSX, ${way.name}`,
      file: "xlsx",
      content,
      elsewhere: way.elsewhere,
      bytes: () => ooxmlWorkbook(content, way),
    })),
    ...ODS_WAYS.map((way): CorpusWorkbook => ({
      name: `${content.name}, ODS, ${way.name}`,
      file: "ods",
      content,
      elsewhere: way.elsewhere,
      bytes: () => odsWorkbook(content, way),
    })),
  ])
