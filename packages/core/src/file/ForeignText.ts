/** Recognizes texts of other programs by their beginnings. */

/** How many characters of a text are examined. */
const LOOK_CHARACTERS = 4_096

/** Texts of other programs whose lines are not rows. `ID;Price` begins a table; `ID;PWXL;N;E` does not. */
const TEXTS: ReadonlyArray<readonly [pattern: RegExp, what: string]> = [
  [/^ID;P[A-Z0-9]*(?:;[NE])*\r?\n(?:P;P|F;P\d|[BC];[YX]\d)/, "a SYLK spreadsheet (.slk)"],
  [/^TABLE\r?\n0,1\r?\n/, "a DIF spreadsheet (.dif)"],
  [/^socialcalc:version:\d/, "a spreadsheet of SocialCalc"],
  [/^BEGIN:VCARD\s/i, "a list of contacts (vCard)"],
  [/^BEGIN:VCALENDAR\s/i, "a calendar (iCalendar)"],
  [/^1CClientBankExchange\s/, "an exchange of 1C with a bank"],
  [/^OFXHEADER:\s*\d/, "a bank statement in OFX"],
  [/^!(?:Type|Account|Option):\w/i, "a bank statement in QIF"],
  [/^(?:\{1:F01|:20:)[^\r\n]/, "a bank statement in SWIFT's format (MT940)"],
  [/^(?:UNA[^\w\s].{5}\s*)?UNB\+\w|^ISA\*\d\d\*/, "an EDI message"],
  [
    /^(?:--\r?\n)?-- (?:MySQL|MariaDB|PostgreSQL|SQLite|phpMyAdmin)\b|^(?:INSERT INTO|CREATE TABLE|DROP TABLE) [\w"\x60[]/i,
    "an SQL dump",
  ],
  [
    /^(?:--[^\n]*\n\s*){1,20}(?:CREATE|INSERT|ALTER|DROP|SELECT|UPDATE|DELETE|SET|BEGIN|USE|WITH|GRANT)\b/i,
    "an SQL script",
  ],
  [
    /^(?:insert into \w|create (?:or replace )?(?:temp(?:orary)? )?(?:table|view|index|function|database|schema) |drop (?:table|view) |select [^;]{1,1000}?\sfrom\s[^;]{1,1000};\s*(?:$|\w+ ))/i,
    "an SQL script",
  ],
  [/^(?:BEGIN;|SELECT [^;]{1,1000}?\sFROM\s|UPDATE [\w".]{1,200}\s+SET\s|ALTER TABLE |DELETE FROM )/, "an SQL script"],
  [/^(?:Return-Path|Received|Delivered-To|Message-ID): [^\r\n]*\r?\n(?:[\w-]+:|[ \t])/i, "a mail message"],
  [
    /^(?:From|To|Subject|Date): [^\r\n]*\r?\n(?:From|To|Cc|Subject|Date|Reply-To|MIME-Version|Content-Type): /,
    "a mail message",
  ],
  [
    /^(?:[A-Za-z][\w-]{0,70}: [^\r\n]{0,1000}\r?\n(?:[ \t][^\r\n]{0,1000}\r?\n)*){0,40}(?:From|Subject|Message-ID): [^\r\n]{0,1000}\r?\n(?:[A-Za-z][\w-]{0,70}: [^\r\n]{0,1000}\r?\n|[ \t][^\r\n]{0,1000}\r?\n){0,40}\r?\n/,
    "a mail message",
  ],
  [/^From \S{1,200} {1,2}\w{3} \w{3} [\d ]\d \d\d:\d\d/, "a mailbox (mbox)"],
  [/^HTTP\/\d(?:\.\d)? \d{3}\b/, "a response of a web server, with its headers"],
  [/^(?:Windows Registry Editor Version|REGEDIT4\s)/, "a file of the Windows registry"],
  [
    /^(?:#[^\n]{0,500}\n\s*){0,50}msgid "[^\n]*\n(?:"[^\n]*\n)*msg(?:str|id_plural)\b/,
    "a catalog of translations (gettext)",
  ],
  [/^d\d{1,3}:(?:announce|created|comment|info|piece)/, "a torrent"],
  [/^@\w{1,20}\{[\w:./-]{1,100},\s/, "a list of references (BibTeX)"],
  [/^version https:\/\/git-lfs\.github\.com\/spec\/v\d/, "a pointer of Git LFS to a file"],
  [/^#! ?\/[\w/.-]+/, "a script"],
  [
    /^(?:[#;][^\n]{0,500}\n\s*){0,50}\[[\w .:/"\\-]{1,100}\][ \t]*\r?\n(?:[#;][^\n]{0,500}\n|[ \t]*\r?\n){0,20}[\w .-]{1,100}=/,
    "a file of settings (INI)",
  ],
  [
    /^(?:[#;][^\n]{0,500}\n\s*){0,20}(?:export )?([A-Za-z][\w.-]{0,100}) ?= ?[^\r\n,;|\t]*\r?\n\s*(?!\1 ?=)(?:\[|(?:export )?[A-Za-z][\w.-]{0,100} ?=)/,
    "a file of settings",
  ],
  [/^(?:%YAML [\d.]+[^\n]*\n)?--- ?\r?\n(?:#[^\n]*\n)*(?:[\w-]{1,100}:[ \r\n]|- \S)/, "a YAML document"],
  [/^- [\w-]{1,100}:(?: [^\r\n]{0,200})?\r?\n {2}[\w-]{1,100}:[ \r\n]/, "a YAML document"],
  [/^[\w-]{1,100}: [^\r\n]{0,200}\r?\n[\w-]{1,100}:\r?\n +(?:- |[\w-]{1,100}:[ \r\n])/, "a YAML document"],
  [/^(?:version: 1\r?\n\s*)?dn: \w+=/, "a directory (LDIF)"],
  [/^-----BEGIN [A-Z ]+-----\s/, "a key or certificate (PEM)"],
  [/^%!PS[-\s]/, "a PostScript document"],
  [/^(?:\d{1,6}\r?\n)?\d{1,2}:\d\d:\d\d[,.]\d{3} --> \d{1,2}:\d\d:\d\d[,.]\d{3}[ \r\n]/, "a file of subtitles (SRT)"],
  [/^WEBVTT[ \t\r\n]/, "a file of subtitles (WebVTT)"],
  [/^\[Script Info\]\s/, "a file of subtitles (SubStation Alpha)"],
  [/^begin [0-7]{3,4} [^\r\n]{1,255}\r?\nM[ -`]{60}\r?\n/, "a file encoded as text (uuencode)"],
  [/^data:[\w.+/-]{0,100}(?:;[\w=-]{1,50}){0,3};base64,/, "a file encoded as text (base64)"],
]

/** The kind of a text of another program, as the end of a sentence. */
export const foreignText = (text: string): string | undefined => {
  const begin = text.slice(0, LOOK_CHARACTERS).trimStart()
  return TEXTS.find(([pattern]) => pattern.test(begin))?.[1]
}
