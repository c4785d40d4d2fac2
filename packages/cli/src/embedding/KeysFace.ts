/** The API keys of a cabinet, with promises. */
import type { ApiKey, IssuedKey } from "@data-cabinet/core/key/ApiKey"
import { ApiKeys } from "@data-cabinet/core/key/ApiKeys"
import type { Run } from "./RunEffect.ts"

export type { ApiKey, IssuedKey }

export interface KeysFace {
  /** The one time that the key is seen whole. */
  readonly create: (key: { readonly name: string }) => Promise<IssuedKey>
  readonly list: () => Promise<ReadonlyArray<ApiKey>>
  readonly revoke: (id: number) => Promise<ApiKey>
}

export const keysFace = (run: Run): KeysFace => ({
  create: ({ name }) => run(ApiKeys.use((keys) => keys.issue(name))),
  list: () => run(ApiKeys.use((keys) => keys.list)),
  revoke: (id) => run(ApiKeys.use((keys) => keys.revoke(id))),
})
