/**
 * `data-cabinet/effect`: the cabinet for an Effect program. The layer that opens one, the use cases and ports that it
 * provides, and the HTTP server as a layer. It is built with `effect` outside, so that one copy of it runs.
 */
export {
  type CabinetServices,
  type OpenCabinetOptions,
  type OpenCabinetServices,
  openCabinetLayer,
  type StartError,
} from "./openCabinetLayer.ts"
export { Addresses } from "@data-cabinet/core/delivery/Addresses"
export { Diagnostics } from "@data-cabinet/core/diagnostics/Diagnostics"
export { EventDetail } from "@data-cabinet/core/event/EventDetail"
export { Trash } from "@data-cabinet/core/event/Trash"
export { Feed } from "@data-cabinet/core/feed/Feed"
export { Import } from "@data-cabinet/core/file/Import"
export { Intake } from "@data-cabinet/core/intake/Intake"
export { AccessTokens } from "@data-cabinet/core/key/AccessTokens"
export { ApiKeys } from "@data-cabinet/core/key/ApiKeys"
export { Authenticate } from "@data-cabinet/core/key/Authenticate"
export { Destinations } from "@data-cabinet/core/destination/Destinations"
export { Polls } from "@data-cabinet/core/poll/Polls"
export { Catalog } from "@data-cabinet/core/row/Catalog"
export { SearchIndex } from "@data-cabinet/core/row/SearchIndex"
export { SourceColumns } from "@data-cabinet/core/row/SourceColumns"
export { SelectRows } from "@data-cabinet/core/selection/SelectRows"
export { Sources } from "@data-cabinet/core/source/Sources"
export { Readiness } from "@data-cabinet/http-node/server/Readiness"
export * as Server from "@data-cabinet/http-node/routes/Server"
export { Cabinets } from "@data-cabinet/http-node/routes/Cabinets"
