/** How providers refuse `getProgramAccounts` for good: always, for some programs, or for too many accounts. */

/** The method that searches the accounts of a program. */
export const SEARCH_METHOD = "getProgramAccounts"

/** Codes for a program that is left out of the account index, and for a method that is not offered. */
const REFUSED_CODES: ReadonlySet<number> = new Set([-32010, -32601])

/** HTTP statuses that refuse a search whatever the body says: forbidden, gone. */
const REFUSED_STATUSES: ReadonlySet<number> = new Set([403, 410])

/** HTTP statuses whose body may hold a reason. */
export const EXPLAINED_STATUSES: ReadonlyArray<number> = [200, 400, 401, 403, 405, 410, 413, 422]

const REFUSED_WORDS = [
  /excluded from account secondary indexes/iu,
  /(?:been|is|are) (?:disabled|blocked|restricted|forbidden)/iu,
  /(?:not|n't) (?:allowed|available|enabled|supported|offered|permitted)/iu,
  /(?:method|call|program|request) (?:\S+ )?(?:unavailable|forbidden|disabled)/iu,
  /access forbidden/iu,
  /(?:upgrade|dedicated|paid|higher) (?:your )?(?:plan|node|tier)/iu
]

/** Limits on the size of an answer. A search for fewer accounts may stay below them. */
const TOO_LARGE_WORDS = [
  /too many (?:program )?accounts/iu,
  /(?:accounts?|results?|response) .{0,60}exceed|exceed\w* .{0,60}(?:accounts?|results?|response)/iu
]

/** True when the answer would be too large. A narrower search of the program may be answered. */
export const isSearchTooLarge = ({ code, message }: { readonly code: number; readonly message: string }): boolean =>
  !REFUSED_CODES.has(code) &&
  !REFUSED_WORDS.some((words) => words.test(message)) &&
  TOO_LARGE_WORDS.some((words) => words.test(message))

/** True when repeating the search does not help. */
export const isSearchRefused = ({ code, message }: { readonly code: number; readonly message: string }): boolean =>
  REFUSED_CODES.has(code) || [...REFUSED_WORDS, ...TOO_LARGE_WORDS].some((words) => words.test(message))

/** True for an HTTP status that refuses the search, when the body has no JSON-RPC error. */
export const isStatusRefused = (status: number): boolean => REFUSED_STATUSES.has(status)
