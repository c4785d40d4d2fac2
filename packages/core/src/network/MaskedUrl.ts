/**
 * A URL without the parts that are often secret: its query string, user name and password. For the audit log, and for
 * people who may see the destination but may not change it.
 */
export const maskUrl = (url: string): string => {
  const mark = url.search(/[?#]/)
  const plain = mark < 0 ? url : `${url.slice(0, mark)}?…`
  // A password that is not encoded may have an @ of its own.
  return plain.replace(/^([a-z]+:\/\/)[^/]*@/i, "$1…@")
}
