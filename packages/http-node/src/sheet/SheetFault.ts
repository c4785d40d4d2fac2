/** Ends the reading of a workbook. Its message completes the sentence "The workbook cannot be read: …". */
export class SheetFault extends Error {
  readonly code: "unreadable" | "too_large"
  /** Whether another sheet must be chosen. */
  readonly isChoice: boolean

  constructor(message: string, code: "unreadable" | "too_large" = "unreadable", isChoice = false) {
    super(message)
    this.code = code
    this.isChoice = isChoice
  }
}
