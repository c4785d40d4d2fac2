/** Ends the reading of an archive. Its message completes the sentence "The gzip archive cannot be read: …". */
export class ArchiveFault extends Error {
  readonly code: "unreadable" | "too_large"

  constructor(message: string, code: "unreadable" | "too_large" = "unreadable") {
    super(message)
    this.code = code
  }
}
