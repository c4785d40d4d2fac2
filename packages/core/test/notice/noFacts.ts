import type { NoticeFacts } from "@data-cabinet/core/notice/NoticeFacts"

/** Nothing that would be told. */
export const NO_FACTS: NoticeFacts = {
  failing: [],
  recovered: [],
  paused: [],
  waiting: [],
  certificates: [],
  clientCertificates: [],
  holders: [],
  polls: [],
  imports: [],
  columns: [],
  open: [],
  silent: [],
  disk: null,
}
