/** Transient statuses. */
export const TRANSIENT: ReadonlySet<number> = new Set([429, 502, 503, 504])
