/** The address at which others reach a cabinet, and on which its intake addresses are built. */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"

/** The base of a cabinet's public URLs. */
export interface BaseUrl {
  /** Without a trailing slash. */
  readonly url: string
  /** False if it is neither set nor recorded by a server, and therefore only a server's default. */
  readonly known: boolean
}

export class BaseAddress extends Context.Service<
  BaseAddress,
  { readonly get: Effect.Effect<BaseUrl, StoreUnavailable> }
>()("@data-cabinet/core/source/BaseAddress") {}
