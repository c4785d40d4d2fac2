/** The destinations of a process: buckets of S3, streams of NATS, and directories below the root that its operator has set. */
import { join } from "node:path"
import {
  DestinationAdapters,
  DestinationFailure,
  type DestinationFormat,
  type DestinationPlace,
} from "@data-cabinet/core/destination/Destination"
import { areOfS3 } from "@data-cabinet/core/destination/DestinationCredentials"
import { isNats } from "@data-cabinet/core/destination/NatsSettings"
import { isS3 } from "@data-cabinet/core/destination/S3Settings"
import { Effect, Layer } from "effect"
import { PinnedClient } from "../outgoing/PinnedClient.ts"
import type { EncodeSlice } from "./SliceName.ts"

export interface DestinationOptions {
  /** Null: this process writes to no directory. */
  readonly root: string | null
  /** The encoder of a format. */
  readonly encoder: (format: DestinationFormat) => EncodeSlice
}

const NO_ROOT =
  "This process has no directory for destinations. Set CABINET_DESTINATION_ROOT, both for the server and for the command (a program's option: destinationRoot)."

const UNREADABLE = "The credentials of the destination cannot be decrypted with CABINET_SECRET_KEY."

const fail = (message: string) => Effect.fail(new DestinationFailure({ message }))

// Each adapter is loaded only by a cabinet that has such a destination.

const openDirectory = Effect.fnUntraced(function* (place: DestinationPlace, { root, encoder }: DestinationOptions) {
  if (root === null) return yield* fail(NO_ROOT)
  const { directoryDestination } = yield* Effect.promise(() => import("./DirectoryDestination.ts"))
  return directoryDestination(join(root, place.location), place, encoder(place.format))
})

const openBucket = Effect.fnUntraced(function* (
  client: PinnedClient["Service"],
  place: DestinationPlace,
  { encoder }: DestinationOptions,
) {
  const { credentials } = place
  if (credentials === null || credentials === "unreadable" || !areOfS3(credentials)) return yield* fail(UNREADABLE)
  const { s3Destination } = yield* Effect.promise(() => import("./S3Destination.ts"))
  return s3Destination(client, place, credentials, encoder(place.format))
})

const openStream = Effect.fnUntraced(function* (client: PinnedClient["Service"], place: DestinationPlace) {
  const { credentials } = place
  if (credentials === "unreadable" || (credentials !== null && areOfS3(credentials))) return yield* fail(UNREADABLE)
  const { natsDestination } = yield* Effect.promise(() => import("./NatsDestination.ts"))
  return yield* natsDestination(client, place, credentials)
})

export const layer = (options: DestinationOptions) =>
  Layer.effect(
    DestinationAdapters,
    PinnedClient.use((client) =>
      Effect.succeed({
        directoryObstacle: options.root === null ? NO_ROOT : null,
        open: (place) => {
          if (isNats(place.location)) return openStream(client, place)
          return isS3(place.location) ? openBucket(client, place, options) : openDirectory(place, options)
        },
      } satisfies DestinationAdapters["Service"]),
    ),
  )
