/** The value of a cell of an OpenDocument sheet, from its attributes and its text. */
import type { SheetCell } from "@data-cabinet/core/file/SheetReader"
import { cellNumber, trimZeros } from "./CellNumber.ts"
import { isoText } from "./SerialTime.ts"

export interface OdsCell {
  readonly type: string | undefined
  /** LibreOffice's own type: `error`. */
  readonly ownType: string | undefined
  readonly value: string | undefined
  readonly dateValue: string | undefined
  readonly timeValue: string | undefined
  readonly booleanValue: string | undefined
  readonly stringValue: string | undefined
}

const DURATION = /^(-?)P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:[.,](\d+))?S)?)?$/

/** `PT36H00M00S` becomes `36:00:00`; a duration of months or years stays unchanged. */
export const durationText = (text: string): string => {
  const found = DURATION.exec(text.trim())
  if (found === null) return text
  const [, sign = "", days = "0", hours = "0", minutes = "0", seconds = "0", fraction = ""] = found
  const total = ((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60 + Number(seconds)
  if (!Number.isSafeInteger(total)) return text
  const padded = (value: number) => String(value).padStart(2, "0")
  const rest = trimZeros(fraction.slice(0, 9))
  const clock = `${padded(Math.floor(total / 3600))}:${padded(Math.floor(total / 60) % 60)}:${padded(total % 60)}`
  return `${sign}${clock}${rest === "" ? "" : `.${rest}`}`
}

/** `text` is null for a cell without a paragraph. */
export const odsValue = (cell: OdsCell, text: string | null): SheetCell => {
  if (cell.ownType === "error" && text !== null && text !== "") return text
  switch (cell.type) {
    case "float":
    case "percentage":
    case "currency":
      return cell.value === undefined || cell.value === "" ? text : cellNumber(cell.value)
    case "date":
      return cell.dateValue === undefined ? text : isoText(cell.dateValue)
    case "time":
      return cell.timeValue === undefined ? text : durationText(cell.timeValue)
    case "boolean":
      return { true: true, false: false }[cell.booleanValue ?? ""] ?? cell.booleanValue ?? text
    case "string":
      return cell.stringValue ?? text ?? ""
    default:
      return cell.stringValue ?? text
  }
}
