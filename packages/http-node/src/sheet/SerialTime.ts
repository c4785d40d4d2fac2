/**
 * Converts a number with a date, time or duration format to text. The first days of 1900 are those that spreadsheets
 * show, including a 29 February 1900. A number that is not a date stays a number.
 */
import { trimZeros } from "./CellNumber.ts"
import type { NumberKind } from "./NumberFormat.ts"

const DAY_MILLIS = 86_400_000

/** After 9999-12-31, the last day, in the system that begins with 1900. */
const END = 2_958_466
/** Days between the two systems. */
const SINCE_1904 = 1462
/** The day that does not exist, 29 February 1900. */
const LEAP_1900 = 60
const EPOCH = Date.UTC(1899, 11, 30)

/** With a time format, a smaller number is a duration, and any other a date: 60 days are not a time of day. */
const LONGEST_SPAN = 61

const padded = (value: number): string => String(value).padStart(2, "0")

/** `36:00:00`, with milliseconds if there are any. */
export const spanText = (millis: number): string => {
  const whole = Math.abs(millis)
  const rest = whole % 1000
  const seconds = (whole - rest) / 1000
  const clock = `${padded(Math.floor(seconds / 3600))}:${padded(Math.floor(seconds / 60) % 60)}:${padded(seconds % 60)}`
  return `${millis < 0 ? "-" : ""}${clock}${rest === 0 ? "" : `.${String(rest).padStart(3, "0")}`}`
}

const millisOf = (serial: number): number => Math.round(serial * DAY_MILLIS)

const dateText = (serial: number): string | undefined => {
  if (serial < 1 || (serial >= LEAP_1900 && serial < LEAP_1900 + 1)) return undefined
  const shifted = serial < LEAP_1900 ? serial + 1 : serial
  const millis = millisOf(shifted)
  if (millis >= END * DAY_MILLIS) return undefined
  const text = new Date(EPOCH + millis).toISOString()
  if (text.endsWith("T00:00:00.000Z")) return text.slice(0, 10)
  return text.slice(0, 19) + (text.endsWith(".000Z") ? "" : text.slice(19, 23))
}

/** The text of a number of this kind; undefined if it is not a date, a time or a duration. */
export const serialText = (serial: number, kind: NumberKind, is1904: boolean): string | undefined => {
  if (!(Math.abs(serial) < END)) return undefined
  if (kind === "span") return spanText(millisOf(serial))
  const isTime = kind === "time" || (kind === "moment" && serial > 0)
  if (isTime && serial >= 0 && millisOf(serial) < DAY_MILLIS) return spanText(millisOf(serial))
  if (kind === "time" && serial > 0 && serial < LONGEST_SPAN) return spanText(millisOf(serial))
  if (serial < 0) return undefined
  return dateText(is1904 ? serial + SINCE_1904 : serial)
}

const ISO = /^(?:(\d{4}-\d{2}-\d{2})(?:T|$))?T?(?:(\d{1,2}:\d{2})(?::(\d{2}(?:\.\d+)?))?(Z|[+-]\d{2}:?\d{2})?)?$/

/**
 * A date in ISO 8601, in the form of the others; unchanged if it is not one. A moment keeps its `Z` or its offset, and with it
 * its time.
 */
export const isoText = (text: string): string => {
  const [, day, clock, seconds = "00", zone = ""] = ISO.exec(text.trim()) ?? []
  if (clock === undefined) return day ?? text
  const [whole = "", fraction = ""] = seconds.split(".")
  const digits = trimZeros(fraction)
  const time = `${clock.padStart(5, "0")}:${whole}${digits === "" ? "" : `.${digits}`}`
  if (day === undefined || day === "1899-12-30" || day === "1899-12-31") return time + zone
  return time === "00:00:00" && zone === "" ? day : `${day}T${time}${zone}`
}
