/**
 * A client of Data Cabinet for programs: rows, the event feed, intake, signed deliveries and the management API. It needs
 * `fetch` and nothing else: browsers, Node, Deno, Bun and workers have it.
 */
export { Cabinet, type CabinetOptions, type RowsPage, type Selection, type Source, type Table } from "./Cabinet.ts"
export { CabinetError } from "./CabinetError.ts"
export type { CursorStore, FeedEvent, FeedOptions, FeedPage } from "./Feed.ts"
export { type IntakeOptions, type IntakeReceipt, sendToIntake } from "./Intake.ts"
export type { Numbers } from "./Json.ts"
export { type ManageOptions, Management } from "./Management.ts"
export { verifyDelivery, type VerifyOptions } from "./VerifyDelivery.ts"
