import { createHash } from "node:crypto"
import type { AltchaChallenge } from "@data-cabinet/core/proof/AltchaProof"

/** Solves a challenge as a browser does. `changed`: parameters that are changed afterwards. */
export const solvedAltcha = ({ parameters, signature }: AltchaChallenge, changed: object = {}): string => {
  const { salt, nonce, keyPrefix } = parameters
  const counter = Buffer.alloc(4)
  for (let tried = 0; ; tried++) {
    counter.writeUInt32BE(tried)
    const derivedKey = createHash("sha256")
      .update(salt + nonce, "hex")
      .update(counter)
      .digest("hex")
    if (!derivedKey.startsWith(keyPrefix)) continue
    const solution = { counter: tried, derivedKey, time: 1 }
    const challenge = { parameters: { ...parameters, ...changed }, signature }
    return Buffer.from(JSON.stringify({ challenge, solution })).toString("base64")
  }
}
