/** Search indexes as the management API and `--json` show them. */
import type { FoundSearchIndex } from "./SearchIndex.ts"

export const searchIndexJson = ({ name, valid, complete, bytes, scans, progress }: FoundSearchIndex) => ({
  name,
  valid,
  complete,
  bytes,
  scans,
  progress,
})
