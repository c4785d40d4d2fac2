/** A delivery address as the command shows it. */
import {
  addressShape,
  addressWithSecretShape,
  type Address,
  type Subscription,
} from "@data-cabinet/core/delivery/Address"
import { SENDING_SETTINGS } from "@data-cabinet/core/delivery/SendingSettings"
import { counted } from "@data-cabinet/core/text/Counted"
import { filterInWords } from "@data-cabinet/core/delivery/TestFilter"
import { Effect } from "effect"
import { card } from "../output/Columns.ts"
import { report } from "../output/Report.ts"
import type { Style } from "../output/Style.ts"
import { format } from "./Root.ts"
import { settingLines } from "./SettingFlags.ts"

/** Whether deliveries to the address succeed, fail or wait, in words. */
export const state = (address: Address): string => {
  if (address.pausedAt !== null) {
    const { pausedBecause, failingSince } = address
    if (pausedBecause === null) return "paused"
    return pausedBecause === "gone"
      ? "paused: gone (410)"
      : `paused: given up, failing since ${failingSince ?? ""}`.trim()
  }
  return address.failingSince === null ? "working" : `failing since ${address.failingSince}`
}

/** The sources whose events the address gets. */
export const sourcesText = (sources: Subscription): string => (sources === "all" ? "all" : sources.join(", ") || "none")

const certificateLines = ({ clientCertificate }: Address): ReadonlyArray<readonly [string, string]> => {
  if (clientCertificate === null) return []
  const { subject, issuer, fingerprint, endsAt } = clientCertificate
  return [
    ["Client certificate", `${subject} (issued by ${issuer}; until ${endsAt})`],
    ["Its SHA-256", fingerprint],
  ]
}

const subscriptionLines = ({ subscription }: Address): ReadonlyArray<readonly [string, string]> =>
  subscription === null
    ? []
    : [
        ["Agent", subscription.agent],
        ["Subscribed to", `${subscription.event} until ${subscription.endsAt}`],
      ]

const positionLines = ({ position }: Address): ReadonlyArray<readonly [string, string]> => {
  if (position === null) return []
  const { eventId, behindSeconds, waitsAt, failures, retryAt, error } = position
  const at = eventId === null ? "before the first event" : `event ${eventId}`
  const waits = failures === 0 ? "" : `, waits at event ${waitsAt ?? "–"}, next try ${retryAt}: ${error}`
  return [["Position", `${at}, ${Math.round(behindSeconds)} s behind${waits}`]]
}

const templateLines = ({ body: { template } }: Address): ReadonlyArray<readonly [string, string]> =>
  template === null ? [] : [["Template", template.replaceAll(/\s+/g, " ").trim()]]

const addressCard = (address: Address, style: Style): string =>
  card(
    [
      ["Address", `${address.id}  ${address.url}`],
      ["Signing secret", address.secret],
      ...(address.previousSecret === null
        ? []
        : [
            [
              "Previous secret",
              `${address.previousSecret.secret} (also signs until ${address.previousSecret.until})`,
            ] as const,
          ]),
      ...subscriptionLines(address),
      ["Sources", sourcesText(address.sources)],
      ...(address.filters.length === 0
        ? []
        : [
            [
              "Only where",
              `${address.filters.map(filterInWords).join(", ")} (${counted(address.filteredEvents, "event")} not sent)`,
            ] as const,
          ]),
      ...(address.headerNames.length === 0 ? [] : [["Headers", address.headerNames.join(", ")] as const]),
      ...certificateLines(address),
      ...settingLines(SENDING_SETTINGS, address),
      ...templateLines(address),
      ...positionLines(address),
      ["State", state(address)],
      ["Created", address.createdAt],
    ],
    style,
  )

/** With its secrets. */
export const showWhole = (address: Address) =>
  Effect.flatMap(format, (json) =>
    report(json, addressWithSecretShape.json(address), (style) => addressCard(address, style)),
  )

/** Prints the address without its secrets; to a person, only these words. */
export const showChanged = (address: Address, words: string) =>
  Effect.flatMap(format, (json) => report(json, addressShape.json(address), () => words))
