/** A choice of one among few, as a native select element. */
import { Html, markup } from "@data-cabinet/http-node/html/Html"

export type Option = readonly [value: string, text: string]

export const options = (all: ReadonlyArray<Option>, chosen: string): Html =>
  markup`${all.map(([value, text]) => markup`<option value="${value}"${value === chosen && new Html(" selected")}>${text}</option>`)}`
