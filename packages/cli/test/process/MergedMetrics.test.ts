import { mergeMetrics } from "data-cabinet/process/MergedMetrics"
import { expect, it } from "vitest"

const requests = (count: number) =>
  `# HELP cabinet_requests Requests.\n# TYPE cabinet_requests counter\ncabinet_requests{route="/a b",status="200"} ${count}\ncabinet_requests 7\n`

it("mergeMetrics labels every sample by its worker and keeps the samples of one metric together", () => {
  const text = mergeMetrics([
    { worker: null, text: "# TYPE cabinet_workers gauge\ncabinet_workers 2\n" },
    { worker: "1", text: `${requests(3)}# TYPE cabinet_up gauge\ncabinet_up 1\n` },
    { worker: "2", text: requests(4) },
  ])
  expect(text.split("\n").filter((line) => line !== "")).toEqual([
    "# TYPE cabinet_workers gauge",
    "cabinet_workers 2",
    "# HELP cabinet_requests Requests.",
    "# TYPE cabinet_requests counter",
    'cabinet_requests{worker="1",route="/a b",status="200"} 3',
    'cabinet_requests{worker="1"} 7',
    'cabinet_requests{worker="2",route="/a b",status="200"} 4',
    'cabinet_requests{worker="2"} 7',
    "# TYPE cabinet_up gauge",
    'cabinet_up{worker="1"} 1',
  ])
})

it("mergeMetrics returns nothing when there are no metrics", () => {
  expect(mergeMetrics([])).toBe("")
  expect(mergeMetrics([{ worker: "1", text: "" }])).toBe("")
})
