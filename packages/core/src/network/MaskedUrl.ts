/**
 * A URL without what is a secret more often than not: its query string, and a user name and password. For the audit log, and
 * for those who may see that something is sent somewhere but may not change it.
 */
export const maskUrl = (url: string): string => {
  const mark = url.search(/[?#]/)
  const plain = mark < 0 ? url : `${url.slice(0, mark)}?…`
  // A password that is not encoded may have an @ of its own.
  return plain.replace(/^([a-z]+:\/\/)[^/]*@/i, "$1…@")
}
