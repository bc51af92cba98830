/** Times, ages and reasons in words. */

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** A duration in words, such as `4 s` or `3 h`. */
export const ageWords = (ms: number): string => {
  if (ms < MINUTE) {
    return `${Math.max(0, Math.round(ms / SECOND))} s`
  }
  if (ms < HOUR) {
    return `${Math.round(ms / MINUTE)} min`
  }
  return ms < DAY ? `${Math.round(ms / HOUR)} h` : `${Math.round(ms / DAY)} d`
}

const reasons: Readonly<Record<string, string>> = {
  not_captured: "not recorded then",
  backfill_running: "history is still being read",
  source_gap: "blocks are missing",
  resolution_retention: "no longer kept at this width",
  range_clipped: "part of the range",
  limit_clipped: "more than is kept",
  supply_unknown: "the supply is not known",
  basis_unknown: "a cost is not known",
  mark_unknown: "a price is not known",
  observed_swaps_only: "observed swaps only",
  source_stale: "the source is stale",
  deadline: "not read in time",
  budget: "out of budget"
}

/** A reason of the contract in words. */
export const reasonWords = (reason: string): string => reasons[reason] ?? reason.replaceAll("_", " ")

/** A time of the contract, in the reader's own zone. */
export const timeText = (ms: number): string =>
  new Date(ms).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" })

/** The ends of an address, for places that are narrow; the whole one belongs in a title. */
export const shortAddress = (address: string): string => `${address.slice(0, 4)}…${address.slice(-4)}`

/** Characters of a text that others wrote, where no element can cut it. */
const MOST_CHARACTERS = 64

/**
 * A text that others wrote, for places without elements, such as titles and choices: its marks of direction end with it, and
 * a long one is cut.
 */
export const isolated = (text: string): string => {
  const characters = Array.from(text)
  const cut = characters.length > MOST_CHARACTERS ? `${characters.slice(0, MOST_CHARACTERS).join("")}…` : text
  return `\u2068${cut.replaceAll(/[\u202A-\u202E\u2066-\u2069]/gu, "")}\u2069`
}
