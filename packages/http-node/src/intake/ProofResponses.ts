/** What a form with a proof of a person fetches: a challenge, and the script that solves it. Any site may read both. */
import type { AltchaChallenge } from "@data-cabinet/core/proof/AltchaProof"
import { jsonLine } from "../parser/BadRequest.ts"
import { PROOF_SCRIPT } from "../proof/ProofScript.ts"
import type { Response } from "../server/Request.ts"
import { JSON_HEADERS, OPEN } from "./IntakeResponses.ts"

/** Null: the source of this address demands no proof that a challenge gives. */
export const challengeResponse = (challenge: AltchaChallenge | null): Response =>
  challenge === null
    ? failed(404, "not_found", "The form of this address has no challenge")
    : { status: 200, headers: JSON_HEADERS, body: jsonLine(challenge) }

const failed = (status: number, error: string, detail: string, headers: object = {}): Response => ({
  status,
  headers: { ...JSON_HEADERS, ...headers },
  body: jsonLine({ ok: false, error, detail }),
})

/** The response to any other method. */
export const onlyGetResponse: Response = failed(405, "method_not_allowed", "Read this URL with GET", { allow: "GET" })

/** The same script for every address: it learns its own from the page. */
export const proofScriptResponse: Response = {
  status: 200,
  headers: {
    ...OPEN,
    "content-type": "text/javascript; charset=utf-8",
    "cache-control": "public, max-age=3600",
    "cross-origin-resource-policy": "cross-origin",
    "x-content-type-options": "nosniff",
  },
  body: PROOF_SCRIPT,
}
