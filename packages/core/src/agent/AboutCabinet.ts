/** What `about_cabinet` says: what a cabinet is, what this reader may read of it, and what day it is there. */
import { VERSION } from "../diagnostics/Version.ts"
import type { ReadScopeOrAll } from "../key/ReadScope.ts"
import { localTime } from "./CabinetDay.ts"

const ABOUT =
  "Data Cabinet accepts data from other systems (webhooks, forms, files, polls). Each source has a table with a row for each event; the cabinet's owner may add tables and views. list_tables and describe_table say what there is, read_rows reads a selection of rows, summarize_rows counts and adds up. read_events and wait_for_events read the event feed, the original data in the order of acceptance, from a cursor on. Everything is read only."

const WITH_ADDRESSES =
  "list_failing_addresses names the delivery addresses that fail, and why. Deliveries that succeeded, imports and settings cannot be read here: the owner sees them in the console."

const WITHOUT_ADDRESSES =
  "Delivery addresses, deliveries, imports and settings cannot be read here: the owner sees them in the console."

interface Facts {
  readonly scope: ReadScopeOrAll
  readonly seesAddresses: boolean
  readonly timeZone: string
  /** The time, in milliseconds. */
  readonly now: number
}

/** As JSON text. */
export const aboutText = ({ scope, seesAddresses, timeZone, now }: Facts): string =>
  JSON.stringify({
    product: "Data Cabinet",
    version: VERSION,
    about: `${ABOUT} ${seesAddresses ? WITH_ADDRESSES : WITHOUT_ADDRESSES}`,
    reads: scope === null ? "all tables, views and events" : "only the tables and views that the token lists",
    time_zone: timeZone,
    now: localTime(timeZone, now),
  })
