/**
 * Where a page of an address's attempts ends: a time, and the delivery whose attempt was the last, because attempts that were
 * claimed together began at one time.
 */
import type { Attempt } from "@data-cabinet/core/delivery/Attempt"
import type { LogQuery } from "@data-cabinet/core/delivery/DeliveryQueue"
import type { ManageParameter } from "../manage/ManageEndpoint.ts"
import { isTime } from "../manage/ManageParameters.ts"

type AttemptPosition = Required<Pick<LogQuery, "before">> & Pick<LogQuery, "beforeDelivery">

export const attemptCursor = ({ at, deliveryId }: Pick<Attempt, "at" | "deliveryId">): string => `${at}_${deliveryId}`

const CURSOR = /^([^_]*)(?:_([1-9]\d{0,15}))?$/

export const attemptsBefore = {
  name: "before",
  description: "`next_cursor` of the previous page, or a time (RFC 3339): only attempts that began before it.",
  schema: { type: "string" },
  read: (text: string): AttemptPosition | undefined => {
    const [, before, delivery] = CURSOR.exec(text) ?? []
    const beforeDelivery = Number(delivery ?? 0)
    if (before === undefined || !isTime(before) || !Number.isSafeInteger(beforeDelivery)) return undefined
    return delivery === undefined ? { before } : { before, beforeDelivery }
  },
  expected: "the next_cursor of a page, or a time such as 2026-11-21T09:30:00Z",
} as const satisfies ManageParameter<AttemptPosition>
