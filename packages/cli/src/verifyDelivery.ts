/** For receivers: `import { verifyDelivery } from "data-cabinet/verifyDelivery"` needs nothing but Node's own crypto. */
export { verifyDelivery, type VerifyOptions } from "@data-cabinet/core/delivery/VerifyDelivery"
