/** What searches treat as one text, and what they do not: in filters of addresses, in tables, in indexes and among events. */

export const ALIKE: ReadonlyArray<readonly [one: string, other: string]> = [
  ["\u0130stanbul", "istanbul"],
  ["\u0130stanbul", "ISTANBUL"],
  ["\u0130STANBUL", "\u0131stanbul"],
  ["\u0130stanbul", "i\u0307stanbul"],
  ["I\u0307stanbul", "istanbul"],
  ["Diyarbak\u0131r", "D\u0130YARBAKIR"],
  ["Hauptstra\u00DFe", "hauptstrasse"],
  ["HAUPTSTRASSE", "hauptstra\u00DFe"],
  ["HAUPTSTRA\u1E9EE", "Hauptstra\u00DFe"],
  ["\u03A3\u03AF\u03C3\u03C5\u03C6\u03BF\u03C2", "\u03C3\u03AF\u03C3\u03C5\u03C6\u03BF\u03C3"],
  ["\u03A3\u038A\u03A3\u03A5\u03A6\u039F\u03A3", "\u03C3\u03AF\u03C3\u03C5\u03C6\u03BF\u03C2"],
  ["\uFB01nance", "FINANCE"],
  ["\u0415\u0308\u043B\u043A\u0430", "\u0451\u043B\u043A\u0430"],
  ["\u212Bngstr\u00F6m", "a\u030Angstro\u0308m"],
  ["\u212A", "k"],
  ["\u00B5", "\u039C"],
  ["\u01C5ungla", "\u01C6UNGLA"],
]

export const APART: ReadonlyArray<readonly [one: string, other: string]> = [
  ["\u0451\u043B\u043A\u0430", "\u0435\u043B\u043A\u0430"],
  ["caf\u00E9", "cafe"],
  ["\u03AF", "\u03B9"],
  ["\uFF76", "\u30AB"],
]
