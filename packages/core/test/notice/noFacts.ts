import type { NoticeFacts } from "@data-cabinet/core/notice/NoticeFacts"

/** Facts that cause no notice. */
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
  fields: [],
  disk: null,
}
