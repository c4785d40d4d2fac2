/** The cabinet's intake addresses, APIs and console, below `/data`. */
export default defineEventHandler(async (event) => (await contact()).cabinet.fetchHandler(toWebRequest(event)))
