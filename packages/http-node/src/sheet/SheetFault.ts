/** Ends the reading of a workbook. Its message completes the sentence "The workbook cannot be read: …". */
export class SheetFault extends Error {
  readonly code: "unreadable" | "too_large"

  constructor(message: string, code: "unreadable" | "too_large" = "unreadable") {
    super(message)
    this.code = code
  }
}
