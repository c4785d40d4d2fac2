/** Separated files as programs write them, each with its table. */
import iconv from "iconv-lite"

export interface CorpusFile {
  readonly name: string
  readonly bytes: Buffer
  readonly rows: ReadonlyArray<Readonly<Record<string, string>>>
}

type Table = readonly [header: ReadonlyArray<string>, ...rows: ReadonlyArray<ReadonlyArray<string>>]

const TABLES: Readonly<Record<string, Table>> = {
  prices: [
    ["Сумма, руб.", "НДС, руб.", "Товар"],
    ["1,50", "0,30", "Чай"],
    ["12,00", "2,40", "Кофе, молотый"],
    ["7,25", "1,45", "Сахар"],
  ],
  dates: [
    ["Date", "Number", "Amount", "Name"],
    ["April 15, 2023", "4028", "25.00", "Ray"],
    ["April 9, 2023", "6783", "25.00", "Lon"],
    ["April 8, 2023", "7795", "1,025.00", "Cec"],
  ],
  people: [
    ["Name", "Note", "Code"],
    ["Ann", 'said "yes", and left', "007"],
    ["Bob", "two\nlines", "40817810099910004312"],
    ["Cyd", "", "=1+1"],
  ],
  wide: [
    ["id", "a", "b", "c", "d", "e"],
    ["1", "x", "y", "z", "", "v"],
    ["2", "1.5", "2026-01-02", "10:30", "a;b|c", ""],
    ["3", " trimmed not ", "-4", "+7 (912) 000", "#", "/"],
    ["4", "x", "y", "z", "u", "v"],
  ],
}

const DELIMITERS = [";", "\t", "|", ","]
const LINE_ENDS = ["\n", "\r\n", "\r"]
const CHARSETS = [
  "utf-8",
  "utf-8 mark",
  "win1251",
  "utf-16le",
  "utf-16le mark",
  "utf-16be",
  "utf-32le",
  "utf-32be mark",
]

type Quoting = "all" | "needed"

const cellText = (cell: string, delimiter: string, quoting: Quoting): string => {
  const needed = /["\r\n]/.test(cell) || cell.includes(delimiter)
  return needed || quoting === "all" ? `"${cell.replaceAll('"', '""')}"` : cell
}

interface Written {
  readonly delimiter: string
  readonly lineEnd: string
  readonly quoting: Quoting
  readonly titles: ReadonlyArray<string>
  /** Empty cells at the end of a line are left out, with their delimiters. */
  readonly isRagged: boolean
  readonly isLastEnded: boolean
}

const trimmed = (cells: ReadonlyArray<string>): ReadonlyArray<string> => {
  let width = cells.length
  while (width > 1 && cells[width - 1] === "") width--
  return cells.slice(0, width)
}

const textOf = (table: Table, { delimiter, lineEnd, quoting, titles, isRagged, isLastEnded }: Written): string => {
  const lines = table.map((cells) =>
    (isRagged ? trimmed(cells) : cells).map((cell) => cellText(cell, delimiter, quoting)).join(delimiter),
  )
  return [...titles, ...lines].join(lineEnd) + (isLastEnded ? lineEnd : "")
}

const rowsOf = ([header, ...rows]: Table, isRagged: boolean) =>
  rows.map((cells) =>
    Object.fromEntries((isRagged ? trimmed(cells) : cells).map((cell, n) => [header[n]!, cell] as const)),
  )

const encoded = (text: string, charset: string): Buffer => {
  const [codec = "", mark] = charset.split(" ")
  return iconv.encode(text, codec, { addBOM: mark !== undefined })
}

const isCyrillic = (table: string) => table === "prices"

const titlesOf = (n: number, delimiter: string): ReadonlyArray<string> =>
  [
    [],
    ["Report of March", ""],
    ["Company", "Period: March", ""],
    [`Report${delimiter.repeat(2)}`, delimiter.repeat(2)],
  ][n]!

/** Every delimiter with every table; the other properties rotate, so that each pair of them occurs. */
export const csvCorpus = (): ReadonlyArray<CorpusFile> => {
  const files: Array<CorpusFile> = []
  let turn = 0
  for (const [name, table] of Object.entries(TABLES))
    for (const delimiter of DELIMITERS)
      for (const lineEnd of LINE_ENDS)
        for (const quoting of ["all", "needed"] as const)
          for (const isRagged of [false, true]) {
            turn++
            const charset = CHARSETS[turn % CHARSETS.length]!
            if (charset === "win1251" && !isCyrillic(name)) continue
            const titles = titlesOf((turn >> 1) % 4, delimiter)
            const isLastEnded = isRagged || turn % 3 > 0
            const written = { delimiter, lineEnd, quoting, titles, isRagged, isLastEnded }
            const text = textOf(table, written)
            files.push({
              name: `${name} ${JSON.stringify({ ...written, charset })}`,
              bytes: encoded(text, charset),
              rows: rowsOf(table, isRagged),
            })
          }
  return files
}
