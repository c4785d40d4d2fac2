/** An address to be created or changed. */
import type { RequestHeader } from "../network/RequestHeader.ts"
import type { BodyChoice } from "./BodySetting.ts"
import type { ClientIdentity } from "./ClientCertificate.ts"
import type { FieldFilters } from "./FieldFilter.ts"
import type { HeaderChange } from "./HeaderChange.ts"
import type { SendingValues } from "./SendingSettings.ts"
import type { Batching, DeliveryOrder, Subscription } from "./Address.ts"

/**
 * How deliveries are sent to an address; absent fields mean the default for a new address, and no change for an
 * existing one.
 */
export interface SendingSettings extends Partial<SendingValues> {
  /** Sent with each delivery, as long as the URL keeps its origin. An empty list removes them. */
  readonly headers?: ReadonlyArray<RequestHeader>
  /**
   * The certificate and key with which the service identifies itself to https addresses that require it, as long as the
   * URL keeps its origin. Null (the default): none.
   */
  readonly clientIdentity?: ClientIdentity | null
  /** Default: `none`. */
  readonly order?: DeliveryOrder
  /** How many events one request carries, which needs `order: "feed"`. Default: one. */
  readonly batch?: Batching
  /** What deliveries carry. Default: the contract's own body. */
  readonly body?: BodyChoice
}

/** An address to be created. */
export interface NewAddress extends SendingSettings {
  readonly url: string
  readonly sources: Subscription
  /** Default: none. */
  readonly filters?: FieldFilters
}

/**
 * The changes to an address; absent fields stay unchanged. `headers` replaces all headers; `setHeaders` and
 * `removeHeaders` change single ones.
 */
export interface AddressChange extends SendingSettings, HeaderChange {
  /** The new URL. */
  readonly url?: string
  /** The new subscription. */
  readonly sources?: Subscription
  /** All conditions of the new filter; without any, every event passes. */
  readonly filters?: FieldFilters
}
