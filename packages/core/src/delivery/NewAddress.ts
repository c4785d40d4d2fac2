/** An address to be created or changed. */
import type { RequestHeader } from "../network/RequestHeader.ts"
import type { BodyChoice } from "./BodySetting.ts"
import type { SecretSettings } from "./ClientIdentity.ts"
import type { FieldFilters } from "./FieldFilter.ts"
import type { HeaderChange } from "./HeaderChange.ts"
import type { ShownSettings } from "./SendingSettings.ts"
import type { Subscription } from "./Address.ts"

/**
 * How deliveries are sent to an address; absent fields mean the default for a new address, and no change for an
 * existing one.
 */
export interface SendingSettings extends Partial<Omit<ShownSettings, "body">>, Partial<SecretSettings> {
  /** Sent with each delivery, as long as the URL keeps its origin. An empty list removes them. */
  readonly headers?: ReadonlyArray<RequestHeader>
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
