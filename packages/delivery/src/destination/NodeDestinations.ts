/** The destinations of a process: directories below the root that its operator has set. */
import { join } from "node:path"
import {
  DestinationAdapters,
  DestinationFailure,
  type DestinationFormat,
} from "@data-cabinet/core/destination/Destination"
import { Effect, Layer } from "effect"
import type { EncodeSlice } from "./DirectoryDestination.ts"

export interface DestinationOptions {
  /** Null: this process writes to no directory. */
  readonly root: string | null
  /** The encoder of a format. */
  readonly encoder: (format: DestinationFormat) => EncodeSlice
}

const NO_ROOT =
  "This process has no directory for destinations. Set CABINET_DESTINATION_ROOT, both for the server and for the command (a program's option: destinationRoot)."

export const layer = ({ root, encoder }: DestinationOptions) =>
  Layer.succeed(DestinationAdapters, {
    obstacle: () => (root === null ? NO_ROOT : null),
    open: ({ location, ...place }) =>
      root === null
        ? Effect.fail(new DestinationFailure({ message: NO_ROOT }))
        : Effect.map(
            // Loaded only by a cabinet that has a destination.
            Effect.promise(() => import("./DirectoryDestination.ts")),
            ({ directoryDestination }) => directoryDestination(join(root, location), place, encoder(place.format)),
          ),
  })
