/** The API keys of a cabinet and its operators' tokens, with promises. */
import type { ApiKey, IssuedKey } from "@data-cabinet/core/key/ApiKey"
import { ApiKeys } from "@data-cabinet/core/key/ApiKeys"
import type { IssuedOperator, Operator } from "@data-cabinet/core/key/Operator"
import { Operators } from "@data-cabinet/core/key/Operators"
import type { Run } from "./RunEffect.ts"

export type { ApiKey, IssuedKey, IssuedOperator, Operator }

/** Keys for readers of the API. */
export interface KeysFace {
  /** Issues a key; the one time that it is seen whole. */
  readonly create: (key: { readonly name: string }) => Promise<IssuedKey>
  /** All of them, revoked ones too. */
  readonly list: () => Promise<ReadonlyArray<ApiKey>>
  /** Requests with it answer 401 from then on; the other keys stay good. Rejects with `no_such_key`. */
  readonly revoke: (id: number) => Promise<ApiKey>
}

/** Tokens for uploads over HTTP, `POST /upload/{source_id}`. */
export interface OperatorsFace {
  /** Issues a token; the one time that it is seen whole. */
  readonly create: (operator: { readonly name: string }) => Promise<IssuedOperator>
  /** All of them, revoked ones too. */
  readonly list: () => Promise<ReadonlyArray<Operator>>
  /** Uploads with it answer 401 from then on. Rejects with `no_such_key`. */
  readonly revoke: (id: number) => Promise<Operator>
}

export const keysFace = (run: Run): KeysFace => ({
  create: ({ name }) => run(ApiKeys.use((keys) => keys.issue(name))),
  list: () => run(ApiKeys.use((keys) => keys.list)),
  revoke: (id) => run(ApiKeys.use((keys) => keys.revoke(id))),
})

export const operatorsFace = (run: Run): OperatorsFace => ({
  create: ({ name }) => run(Operators.use((operators) => operators.issue(name))),
  list: () => run(Operators.use((operators) => operators.list)),
  revoke: (id) => run(Operators.use((operators) => operators.revoke(id))),
})
