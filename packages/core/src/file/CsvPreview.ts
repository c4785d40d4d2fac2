/** Previews what the beginning of a separated file becomes with one way of reading it. */
import { jsonText } from "../json/JsonText.ts"
import { csvSample, type SampledText } from "./CsvSample.ts"
import type { CsvReading } from "./CsvShape.ts"
import { HeaderedRows } from "./HeaderedRows.ts"

const PREVIEW_ROWS = 5

export const csvPreview = (
  sampled: SampledText,
  {
    delimiter,
    header,
    firstLine,
  }: { readonly delimiter: string; readonly header: boolean; readonly firstLine: number },
): CsvReading => {
  const preview: Array<string> = []
  const rows = new HeaderedRows({ item: (_, payload) => preview.push(jsonText(payload)), refuse: () => {} }, header)
  for (const record of csvSample(sampled, delimiter).rows) {
    if (preview.length >= PREVIEW_ROWS) break
    if (record.line >= firstLine) rows.row(record)
  }
  return { delimiter, header, preview }
}
