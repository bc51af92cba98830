/** The ways in which providers refuse `getProgramAccounts` for good: for every program, for some, or by the count of its accounts. */

/** The method that searches the accounts of a program. */
export const SEARCH_METHOD = "getProgramAccounts"

/** The program is left out of the index of accounts; the method is not offered. */
const REFUSED_CODES: ReadonlySet<number> = new Set([-32010, -32601])

/** HTTP statuses of a refusal, with any body: forbidden, gone. */
const REFUSED_STATUSES: ReadonlySet<number> = new Set([403, 410])

/** HTTP statuses whose bodies may hold a reason: those of a refusal and of a request that is not accepted. */
export const EXPLAINED_STATUSES: ReadonlyArray<number> = [200, 400, 401, 403, 405, 410, 413, 422]

const REFUSED_WORDS = [
  /excluded from account secondary indexes/iu,
  /(?:been|is|are) (?:disabled|blocked|restricted|forbidden)/iu,
  /(?:not|n't) (?:allowed|available|enabled|supported|offered|permitted)/iu,
  /(?:method|call|program|request) (?:\S+ )?(?:unavailable|forbidden|disabled)/iu,
  /access forbidden/iu,
  /(?:upgrade|dedicated|paid|higher) (?:your )?(?:plan|node|tier)/iu
]

/** Limits on the size of an answer, which one of fewer accounts keeps. */
const TOO_LARGE_WORDS = [
  /too many (?:program )?accounts/iu,
  /(?:accounts?|results?|response) .{0,60}exceed|exceed\w* .{0,60}(?:accounts?|results?|response)/iu
]

/** True for an error of a search whose answer would be too large, while a narrower search of the program may be answered. */
export const isSearchTooLarge = ({ code, message }: { readonly code: number; readonly message: string }): boolean =>
  !REFUSED_CODES.has(code) &&
  !REFUSED_WORDS.some((words) => words.test(message)) &&
  TOO_LARGE_WORDS.some((words) => words.test(message))

/** True for an error of a search that no repetition heals. */
export const isSearchRefused = ({ code, message }: { readonly code: number; readonly message: string }): boolean =>
  REFUSED_CODES.has(code) || [...REFUSED_WORDS, ...TOO_LARGE_WORDS].some((words) => words.test(message))

/** True for an answer of HTTP that refuses a search, without an error of JSON-RPC in its body. */
export const isStatusRefused = (status: number): boolean => REFUSED_STATUSES.has(status)
