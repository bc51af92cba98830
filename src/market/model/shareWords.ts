/** Shares and minutes in words, for messages to an operator. */

/**
 * A share from 0 to 1 as a percentage with at most one digit after the point. A share below 1 is never shown as 100 %.
 */
export const percentWords = (share: number): string => {
  const tenths = share < 1 ? Math.min(999, Math.round(share * 1000)) : 1000
  return `${tenths / 10} %`
}

/** The hour and minute of a time in UTC: `16:20`. */
export const minuteWords = (atMs: number): string => new Date(atMs).toISOString().slice(11, 16)
