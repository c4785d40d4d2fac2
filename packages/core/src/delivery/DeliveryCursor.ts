/** Where a page of a list of deliveries ends, as a text: the APIs' `next_cursor`. */
import { isTimestamp } from "../text/Timestamp.ts"
import type { DeliveryPlace } from "./DeliveryQueue.ts"

export const deliveryCursor = ({ at, id, untriedBelow }: DeliveryPlace): string => `${at}_${id}_${untriedBelow}`

const CURSOR = /^([^_]{1,40})_(0|[1-9]\d{0,15})_(0|[1-9]\d{0,15})$/

/** Undefined if the text is not a cursor. */
export const deliveryPlace = (text: string): DeliveryPlace | undefined => {
  const [, at = "", ...numbers] = CURSOR.exec(text) ?? []
  const [id = Number.NaN, untriedBelow = Number.NaN] = numbers.map(Number)
  const isValid = isTimestamp(at) && Number.isSafeInteger(id) && Number.isSafeInteger(untriedBelow)
  return isValid ? { at, id, untriedBelow } : undefined
}
