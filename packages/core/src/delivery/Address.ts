/** A delivery address: the URL that is sent new events, the sources that it subscribes to, and its signing secret. */
import * as Shape from "../json/Shape.ts"
import { mayDo, type Role } from "../key/Role.ts"
import { maskUrl } from "../network/MaskedUrl.ts"
import { type ClientCertificate, clientCertificateShape } from "./ClientCertificate.ts"
import { fieldFilterMembers, type FieldFilters } from "./FieldFilter.ts"
import { SENDING_SETTINGS, type ShownSettings } from "./SendingSettings.ts"

/** `"all"` means every source, including those created later. */
export type Subscription = "all" | ReadonlyArray<number>

/** The signing secret that was replaced; it signs in addition to the new one until `until` (RFC 3339). */
export interface PreviousSecret {
  readonly secret: string
  readonly until: string
}

/** `failing`: it failed for longer than its limit. `gone`: it responded with 410. */
export type PauseReason = (typeof PAUSE_REASONS)[number]
/** Why an address is paused automatically. */
export const PAUSE_REASONS = ["failing", "gone"] as const

/** The position of an address that receives events in order. */
export interface OrderedPosition {
  /** The last event that was delivered or skipped; null before the first. */
  readonly eventId: number | null
  /** How long the first event after it has been waiting, in seconds; 0 without one. */
  readonly behindSeconds: number
  /** The event that it is waiting on after a failure; null otherwise. */
  readonly waitsAt: number | null
  /** Failed attempts of the event that it is waiting on. */
  readonly failures: number
  /** The last error; null without one. */
  readonly error: string | null
  /** When it is tried again, RFC 3339; null if it does not wait. */
  readonly retryAt: string | null
}

/** What an agent has subscribed to. */
export interface AddressSubscription {
  /** The number that the agent knows it by. */
  readonly id: string
  /** The name of the key or token that created it. */
  readonly agent: string
  /** The event type. */
  readonly event: string
  /** Nothing is sent from then on, unless the agent renews it; RFC 3339. */
  readonly endsAt: string
}

/** Times are RFC 3339 in UTC. The secrets are for the owner alone and never logged. */
export interface Address extends ShownSettings {
  readonly id: number
  readonly url: string
  readonly secret: string
  readonly previousSecret: PreviousSecret | null
  readonly sources: Subscription
  /** Null for an address that its owner added. */
  readonly subscription: AddressSubscription | null
  /** All conditions must hold for an event to be sent. */
  readonly filters: FieldFilters
  /** How many events its filters excluded; may lag by a few seconds. */
  readonly filteredEvents: number
  /** Extra headers of each delivery; their values are never shown. */
  readonly headerNames: ReadonlyArray<string>
  /** The client certificate that the service presents to it over TLS; null: none. Its key is never shown. */
  readonly clientCertificate: ClientCertificate | null
  readonly createdAt: string
  /** Null for an unordered address that has delivered everything from the time when it was ordered. */
  readonly position: OrderedPosition | null
  /** While set, nothing is sent; deliveries that become due meanwhile wait. */
  readonly pausedAt: string | null
  /** Why it was paused automatically; null if it is not paused, or was paused by a person. */
  readonly pausedBecause: PauseReason | null
  /** The first failed attempt since the last delivered one. */
  readonly failingSince: string | null
}

const toUrl = {
  id: Shape.id("The address's id."),
  url: Shape.text("Where deliveries are sent."),
}

const settings = {
  sources: Shape.leaf<Subscription>({
    oneOf: [{ const: "all" }, { type: "array", items: { type: "integer", minimum: 1 } }],
    description: "`all`, including later ones, or the ids of sources.",
  }),
  filters: Shape.list(
    Shape.object<FieldFilters[number]>("A condition.", fieldFilterMembers),
    "Only events that meet all of them are sent to it.",
  ),
  filteredEvents: Shape.whole("The number of events that its filters withheld, except in the last few seconds."),
  headerNames: Shape.list(Shape.text(), "Additional headers of its deliveries. Their values are secret."),
  clientCertificate: Shape.orNull(clientCertificateShape),
  ...SENDING_SETTINGS.shapes,
}

const state = {
  subscription: Shape.orNull(
    Shape.object<AddressSubscription>(
      "The subscription of an agent; null for an address that was added by its owner.",
      {
        id: Shape.text("The number that the agent knows it by."),
        agent: Shape.text("The name of the key or token that created it."),
        event: Shape.text("The event type."),
        endsAt: Shape.time("When it ends unless the agent renews it."),
      },
    ),
  ),
  createdAt: Shape.time("When it was added."),
  pausedAt: Shape.orNull(Shape.time("When it was paused; otherwise null.")),
  pausedBecause: Shape.orNull(
    Shape.oneOf(
      PAUSE_REASONS,
      "Why it was paused automatically: it failed for too long, or responded with 410. Null if a person paused it, or it is not paused.",
    ),
  ),
  failingSince: Shape.orNull(Shape.time("The first failed attempt since the last delivered one; otherwise null.")),
  position: Shape.orNull(
    Shape.object<OrderedPosition>("The position of an address that receives events in order.", {
      eventId: Shape.orNull(Shape.id("The last event that was delivered or skipped; null before the first.", 10_417)),
      behindSeconds: Shape.leaf<number>({
        type: "number",
        minimum: 0,
        description: "How long the first event after it has been waiting, in seconds; 0 without one.",
      }),
      waitsAt: Shape.orNull(Shape.id("The event that it is waiting on after a failure; null otherwise.", 10_418)),
      failures: Shape.whole("Failed attempts of the event that it is waiting on."),
      error: Shape.orNull(Shape.text("The last error; null without one.")),
      retryAt: Shape.orNull(Shape.time("When it is retried; null if it is not waiting.")),
    }),
  ),
}

/** An address as the APIs show it, without its secrets. */
export const addressShape = Shape.named(
  "Address",
  Shape.object<Omit<Address, "secret" | "previousSecret">>("A delivery address.", { ...toUrl, ...settings, ...state }),
)

/** An address with its secrets, for an owner who requests this one. */
export const addressWithSecretShape = Shape.named(
  "AddressWithSecret",
  Shape.object<Address>("A delivery address with its signing secret.", {
    ...toUrl,
    secret: Shape.text("The signing secret."),
    ...settings,
    previousSecret: Shape.orNull(
      Shape.object<PreviousSecret>("The previous secret.", {
        secret: Shape.text("It also signs deliveries."),
        until: Shape.time("Until when it also signs."),
      }),
    ),
    ...state,
  }),
)

/**
 * Its URL as shown to this role, or to no role. Roles that may not see secrets do not see the query string, which may
 * hold one.
 */
export const shownAddressUrl = ({ url }: Pick<Address, "url">, role: Role | null): string =>
  role !== null && mayDo(role, "address.reveal") ? url : maskUrl(url)
