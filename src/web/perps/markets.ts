/** The markets of every venue. */
import type { Answer } from "../data/contract.ts"
import { call } from "../data/request.ts"
import { useReading } from "../data/useRead.ts"
import { nameOf } from "./venues.ts"

type Markets = Answer<"GET /api/v1/perps/markets">

const NAME = "GET /api/v1/perps/markets"
const ROWS = "500"
/** About four times what the venues list. */
const MOST_PAGES = 8
const USUAL_MS = 300_000
/** Venues that were late are known soon after. */
const SOON_MS = 15_000

/** All pages together, with the meta of the last one. */
const readAll = async (signal: AbortSignal): Promise<Markets> => {
  const data: Array<Markets["data"][number]> = []
  let page = await call(NAME, { query: { limit: ROWS }, signal })
  data.push(...page.data)
  for (let pages = 1; page.nextCursor !== null && pages < MOST_PAGES; pages++) {
    page = await call(NAME, { query: { limit: ROWS, cursor: page.nextCursor }, signal })
    data.push(...page.data)
  }
  return { ...page, data }
}

/** The symbols to choose from, each with the names of its venues, and the venues whose markets are not among them. */
export const useMarkets = () => {
  const { answer, failure } = useReading("perps markets", readAll, (known) =>
    known === null || known.meta.venues.some(({ status }) => status === "unavailable") ? SOON_MS : USUAL_MS
  )
  return {
    choices: (answer?.data ?? []).map(({ symbol, venues }) => ({
      symbol,
      venues: venues.map(({ venue }) => nameOf(venue)).join(", ")
    })),
    missing: (answer?.meta.venues ?? [])
      .filter(({ status }) => status === "unavailable")
      .map(({ venue }) => nameOf(venue)),
    isUnknown: answer === null && failure !== null
  }
}
