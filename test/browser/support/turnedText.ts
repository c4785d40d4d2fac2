/** Finds values whose marks of direction reach beyond them, and so turn the words that follow. */
import type { Page } from "playwright-core"

/** What follows such values within their box, in the page's text and in its title. */
export const turnedTexts = (page: Page): Promise<ReadonlyArray<string>> =>
  page.evaluate(() => {
    const OPENS = /[\u202a\u202b\u202d\u202e\u2066-\u2068]/
    const isOpen = (text: string): boolean => {
      const open: Array<string> = []
      for (const mark of text) {
        const isolate = open.findLastIndex((one) => one >= "\u2066")
        // The end of a paragraph ends them all.
        if (mark === "\n") open.length = 0
        else if (OPENS.test(mark)) open.push(mark)
        else if (mark === "\u2069" && isolate >= 0) open.length = isolate
        else if (mark === "\u202c" && open.length > isolate + 1) open.pop()
      }
      return open.length > 0
    }
    const isInline = (one: Element): boolean => {
      const { display, unicodeBidi } = getComputedStyle(one)
      return display === "inline" && unicodeBidi === "normal"
    }
    const found = isOpen(document.title) ? [`title: ${document.title}`] : []
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
      let box = text.parentElement!
      if (/^(?:SCRIPT|STYLE|TEXTAREA|OPTION)$/.test(box.tagName) || !isOpen(text.nodeValue ?? "")) continue
      while (isInline(box)) box = box.parentElement!
      const range = document.createRange()
      range.setStartAfter(text)
      range.setEnd(box, box.childNodes.length)
      const after = range.toString().trim()
      if (after !== "") found.push(`${box.tagName}: ${after.slice(0, 80)}`)
    }
    return found
  })
