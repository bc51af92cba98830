/** Tokens that this browser watches, newest first. They stay in the browser. */

export interface Watched {
  readonly mint: string
  readonly symbol: string
}

const KEY = "fathom-watched"
const MOST = 50

const isEntry = (value: unknown): value is Watched =>
  typeof value === "object" &&
  value !== null &&
  "mint" in value &&
  "symbol" in value &&
  typeof value.mint === "string" &&
  typeof value.symbol === "string"

/** The watched tokens; none when the browser stores nothing. */
export const watched = (): ReadonlyArray<Watched> => {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]")
    return Array.isArray(stored) ? stored.filter(isEntry) : []
  } catch {
    return []
  }
}

export const isWatched = (mint: string): boolean => watched().some((each) => each.mint === mint)

/** Adds a token to the watched ones, or removes it. */
export const setWatched = (token: Watched, isOn: boolean): void => {
  const others = watched().filter(({ mint }) => mint !== token.mint)
  try {
    localStorage.setItem(KEY, JSON.stringify((isOn ? [token, ...others] : others).slice(0, MOST)))
  } catch {
    // A browser that stores nothing forgets the list.
  }
}
