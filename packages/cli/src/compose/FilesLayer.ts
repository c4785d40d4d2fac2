/** Where a cabinet writes files, outside of its database: destinations, and the files of old events. */
import { resolve } from "node:path"
import { ColdAfter } from "@data-cabinet/core/cold/ColdStore"
import { isS3 } from "@data-cabinet/core/destination/S3Settings"
import * as NodeColdFiles from "@data-cabinet/delivery/cold/NodeColdFiles"
import * as NodeDestinations from "@data-cabinet/delivery/destination/NodeDestinations"
import { encodeCold, openCold } from "@data-cabinet/http-node/cold/ColdParquet"
import { sliceFile } from "@data-cabinet/http-node/export/FileEncoder"
import * as ColdActs from "@data-cabinet/store-pg/cold/ColdActs"
import * as PgColdReader from "@data-cabinet/store-pg/cold/PgColdReader"
import * as PgColdStore from "@data-cabinet/store-pg/cold/PgColdStore"
import { Layer } from "effect"
import { coldBucketPlace } from "../settings/ColdSettings.ts"
import type { CabinetOptions } from "./CabinetLayer.ts"

type Options = Pick<CabinetOptions, "settings" | "cabinet">

/** Each cabinet of a server of many has a directory of its own. */
const directoryOf = (root: string | null, cabinet: string | null = null): string | null =>
  root === null ? null : resolve(root, cabinet ?? "")

export const destinationsLayer = ({ settings: { destinationRoot }, cabinet }: Options) =>
  NodeDestinations.layer({ root: directoryOf(destinationRoot, cabinet), encoder: sliceFile })

/** A bucket, or a directory. */
const coldPlace = ({ settings, cabinet }: Options): NodeColdFiles.ColdLocation | null => {
  const { coldStore } = settings
  if (coldStore === null || !isS3(coldStore)) return directoryOf(coldStore, cabinet)
  return coldBucketPlace([coldStore, ...(cabinet == null ? [] : [cabinet])].join("/"), settings)
}

const ageOf = ({ settings: { coldStore, coldAfter } }: Options) =>
  Layer.succeed(ColdAfter, coldStore === null ? null : coldAfter * 24)

/** Old events: their files, their rows, and those who read them. */
export const coldLayer = (options: Options) =>
  Layer.mergeAll(ColdActs.layer, PgColdStore.layer, ageOf(options)).pipe(
    Layer.provideMerge(PgColdReader.layer),
    Layer.provideMerge(NodeColdFiles.layer(coldPlace(options), { encode: encodeCold, open: openCold })),
  )
