/** Intake of forms in undeclared Windows-1251, against our own JSON rate. */
import iconv from "iconv-lite"
import { cabinetCommand, ourServer } from "../contestant.ts"
import type { Figure } from "../figure.ts"
import { postRequest, SLOT } from "../load/request.ts"
import { alternate, faster, standingsOf } from "../rounds.ts"

const FIELDS: ReadonlyArray<readonly [name: string, value: string]> = [
  ["номер", SLOT],
  ["имя", "Анна Ахматова"],
  ["почта", "anna@example.com"],
  ["город", "Санкт-Петербург"],
  ["сумма", "1249.50"],
  ["валюта", "RUB"],
  ["оплачен", "да"],
  ["количество", "3"],
  ["дата", "2026-11-21"],
  ["примечание", "Звонить дважды, звонок сломан"],
]

/** Bytes of Windows-1251, those past ASCII percent-encoded as browsers do. */
const escaped = (text: string): string =>
  [...iconv.encode(text, "win1251")]
    .map((byte) => {
      const letter = String.fromCharCode(byte)
      return /[\w.*-]/.test(letter) && byte < 128
        ? letter
        : byte === 32
          ? "+"
          : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`
    })
    .join("")

const urlencoded = FIELDS.map(([name, value]) => `${escaped(name)}=${escaped(value)}`).join("&")

const BOUNDARY = "----WebKitFormBoundary7MA4YWxkTrZu0gW"
const multipart = iconv.encode(
  FIELDS.map(
    ([name, value]) => `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  ).join("") + `--${BOUNDARY}--\r\n`,
  "win1251",
)

const json = JSON.stringify(Object.fromEntries(FIELDS))

export const intakeForms: Figure = {
  name: "intake-forms",
  title: "Intake of forms",
  caption:
    "All three are ours and send the same ten fields with Cyrillic names and values: as JSON in UTF-8, as an urlencoded form and as multipart/form-data, both in undeclared Windows-1251, so that the charset is detected from the data.",
  measure: async (bench) => {
    const url = await bench.cluster.database("ours")
    const ours = await ourServer(url)
    const added = (name: string) => cabinetCommand(url, "source", "add", name) as Promise<{ intake_path: string }>
    const entrant = async (name: string, type: string, body: string | Buffer) => ({
      name,
      pid: ours.pid,
      port: ours.port,
      requests: [postRequest((await added(name)).intake_path, type, body)],
    })
    const entrants = [
      await entrant("JSON", "application/json", json),
      await entrant("urlencoded", "application/x-www-form-urlencoded", urlencoded),
      await entrant("multipart", `multipart/form-data; boundary=${BOUNDARY}`, multipart),
    ]
    const rounds = await alternate(bench, entrants, { connections: 64, rate: null })
    await ours.stop()
    const goal = (form: string) =>
      faster(rounds, form, "JSON", {
        work: `intake, ${form}, Windows-1251 undeclared`,
        atLeast: 0.7,
        other: "our JSON rate",
      })
    return { goals: [goal("urlencoded"), goal("multipart")], standings: standingsOf(rounds, "requests/s") }
  },
}
