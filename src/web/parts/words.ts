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
  not_captured: "it was not recorded at the time",
  backfill_running: "the history is still being read",
  source_gap: "some blocks of the chain are missing",
  resolution_retention: "data this fine is no longer kept",
  range_clipped: "only part of this time was recorded",
  limit_clipped: "there is more than one answer holds",
  supply_unknown: "the supply of the token is unknown",
  basis_unknown: "what something cost is unknown",
  mark_unknown: "a price is unknown",
  observed_swaps_only: "only trades that were seen are counted",
  source_stale: "its source has been silent for too long",
  deadline: "reading it took too long",
  budget: "counting all of it would exceed a limit of the service"
}

/** Why a number is incomplete or unknown, in words. Takes a reason code of the contract. */
export const reasonWords = (reason: string): string => reasons[reason] ?? reason.replaceAll("_", " ")

/** The reason of a coverage as the end of a sentence, such as `: some blocks are missing`; empty when there is none. */
export const because = ({ reason }: { readonly reason: string | null }): string =>
  reason === null ? "" : `: ${reasonWords(reason)}`

const brief: Readonly<Record<string, string>> = {
  not_captured: "not recorded",
  backfill_running: "being read",
  source_gap: "blocks missing",
  supply_unknown: "supply unknown",
  basis_unknown: "cost unknown",
  mark_unknown: "price unknown",
  source_stale: "out of date"
}

/** Why a number is unknown, in a word or two. */
export const briefly = ({ reason }: { readonly reason: string | null }): string => brief[reason ?? ""] ?? "unknown"

/** Date and time in the time zone of the browser. */
export const timeText = (ms: number): string =>
  new Date(ms).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" })

/** The first and last four characters of an address, for narrow places. Show the whole address in a title. */
export const shortAddress = (address: string): string => `${address.slice(0, 4)}…${address.slice(-4)}`

/** Most characters that are shown of a text from other people where CSS cannot cut it. */
const MOST_CHARACTERS = 64

/**
 * A text from other people, for places without elements, such as titles and options. Its direction marks cannot reach
 * the text around it, and a long one is cut.
 */
export const isolated = (text: string): string => {
  const characters = Array.from(text)
  const cut = characters.length > MOST_CHARACTERS ? `${characters.slice(0, MOST_CHARACTERS).join("")}…` : text
  return `\u2068${cut.replaceAll(/[\u202A-\u202E\u2066-\u2069]/gu, "")}\u2069`
}
