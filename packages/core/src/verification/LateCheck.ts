/**
 * Decides whether a stored request comes from its source's sender, by its stored parts: the bytes of its body and the
 * headers that its source keeps. A missing part makes it uncheckable, never refused.
 */
import { Effect } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { verifySns, type SnsService } from "./VerifySns.ts"
import { type RecipeSetting, recipeOf } from "./Verification.ts"
import { type RecipeName, signsAddress } from "./Recipes.ts"
import { type RefusalReason, verifySender } from "./VerifySender.ts"

/** Why a request cannot be checked. */
export const UNCHECKED_REASONS = [
  "no_original",
  "source_off",
  "no_recipe",
  "plain_secret",
  "cut_body",
  "encoded_body",
  "no_kept_signature",
  "no_kept_query",
] as const

/** Why a request cannot be checked. */
export type UncheckedReason = (typeof UNCHECKED_REASONS)[number]

/** A stored request. */
export interface KeptRequest {
  /** The number of its first event. */
  readonly id: number
  readonly body: Uint8Array
  readonly bodyBytes: number
  readonly contentType: string | null
  readonly charsetFrom: string
  /** The kept headers, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>
  /** Null if it was not kept. */
  readonly query: string | null
  /** The time for measuring its age, in seconds since 1970. */
  readonly receivedAt: number
}

export type LateCheck =
  | { readonly recipe: RecipeName; readonly refusal: RefusalReason | null }
  | { readonly unchecked: UncheckedReason }

/** Whether a recipe can prove the sender of a stored request: a secret that is part of the request is never stored. */
export const isCheckableLate = (verification: RecipeSetting): boolean => recipeOf(verification).kind !== "plain"

const unchecked = (reason: UncheckedReason): LateCheck => ({ unchecked: reason })

/** Why a stored request cannot be checked; null if it can. */
const lateObstacle = (request: KeptRequest): UncheckedReason | null => {
  if (request.body.byteLength < request.bodyBytes) return "cut_body"
  return request.charsetFrom === "content_encoding" ? "encoded_body" : null
}

/** `secrets`: those that this process can decrypt. `address`: the source's public address, without a query. */
export const checkLate = (
  verification: RecipeSetting,
  request: KeptRequest,
  { secrets, address }: { readonly secrets: ReadonlyArray<string>; readonly address: string },
): LateCheck => {
  const { recipe: name } = verification
  const recipe = recipeOf(verification)
  if (recipe.kind === "plain") return unchecked("plain_secret")
  if (recipe.kind === "sns") throw new Error("The recipe sns is verified by its certificates")
  const obstacle = lateObstacle(request)
  if (obstacle !== null) return unchecked(obstacle)
  const { query, contentType } = request
  const headers = { ...request.headers, ...(contentType === null ? {} : { "content-type": contentType }) }
  const url = `${address}${query === null || query === "" ? "" : `?${query}`}`
  const verdict = verifySender(recipe, { headers, body: request.body, url }, { secrets, now: request.receivedAt })
  if (verdict.verified) return { recipe: name, refusal: null }
  if (verdict.reason === "no_signature") return unchecked("no_kept_signature")
  // Its presence is unknown.
  if (query === null && signsAddress(recipe)) return unchecked("no_kept_query")
  return { recipe: name, refusal: verdict.reason }
}

/** The same for the recipe `sns`, whose certificate may have to be fetched. */
export const checkLateBySns = (
  request: KeptRequest,
  secrets: ReadonlyArray<string>,
  sns: SnsService["Service"],
): Effect.Effect<LateCheck, StoreUnavailable> => {
  const obstacle = lateObstacle(request)
  if (obstacle !== null) return Effect.succeed(unchecked(obstacle))
  return verifySns(request.body, { secrets, now: request.receivedAt, from: null }, sns).pipe(
    Effect.map((refusal) =>
      refusal === "no_signature" ? unchecked("no_kept_signature") : { recipe: "sns" as const, refusal },
    ),
  )
}
