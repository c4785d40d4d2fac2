/** An erasure's stretch as JSON. */
import type { ErasureStretch } from "./Erasure.ts"

export const erasureJson = ({ next, ...counts }: ErasureStretch) => ({ ...counts, next_after: next })
