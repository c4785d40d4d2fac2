import type { Verification } from "@data-cabinet/core/verification/Verification"

export const HMAC: Verification = {
  recipe: "hmac",
  mode: "mark",
  hmac: {
    header: "X-Sig",
    algorithm: "sha512",
    encoding: "base64",
    prefix: "v=",
    timestampHeader: "X-Time",
    toleranceSeconds: 60,
  },
  keepsOldSecret: true,
}
