/** Watchlists of this browser. They stay in the browser, and every open page shows the same. */
import { useEffect, useState } from "preact/hooks"

export interface Watched {
  readonly mint: string
  readonly symbol: string
}

/** A list with a name, newest tokens first. */
export interface Watchlist {
  readonly name: string
  readonly tokens: ReadonlyArray<Watched>
}

const KEY = "fathom-watchlists"
const CHANGED = "fathom-watchlists-changed"
/** The list that the Watch button fills. It is always there. */
export const FIRST_LIST = "Watched"
const MOST_TOKENS = 50
const MOST_LISTS = 10
const MOST_CHARACTERS = 24

const isEntry = (value: unknown): value is Watched =>
  typeof value === "object" &&
  value !== null &&
  "mint" in value &&
  "symbol" in value &&
  typeof value.mint === "string" &&
  typeof value.symbol === "string"

const listOf = (value: unknown): ReadonlyArray<Watchlist> =>
  typeof value === "object" &&
  value !== null &&
  "name" in value &&
  "tokens" in value &&
  typeof value.name === "string" &&
  Array.isArray(value.tokens)
    ? [{ name: value.name, tokens: value.tokens.filter(isEntry) }]
    : []

const withFirst = (lists: ReadonlyArray<Watchlist>): ReadonlyArray<Watchlist> =>
  lists.some(({ name }) => name === FIRST_LIST) ? lists : [{ name: FIRST_LIST, tokens: [] }, ...lists]

/** All lists; one empty list when the browser stores nothing. */
export const watchlists = (): ReadonlyArray<Watchlist> => {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]")
    return withFirst(Array.isArray(stored) ? stored.flatMap(listOf) : [])
  } catch {
    return withFirst([])
  }
}

const store = (lists: ReadonlyArray<Watchlist>): void => {
  try {
    localStorage.setItem(KEY, JSON.stringify(lists))
  } catch {
    // A browser that stores nothing forgets the lists.
  }
  globalThis.dispatchEvent(new Event(CHANGED))
}

/** The lists with a token added to one of them, as its newest, or removed from it. */
export const withToken = (
  lists: ReadonlyArray<Watchlist>,
  name: string,
  token: Watched,
  isOn: boolean
): ReadonlyArray<Watchlist> =>
  lists.map((list) => {
    const others = list.tokens.filter(({ mint }) => mint !== token.mint)
    return list.name === name ? { name, tokens: (isOn ? [token, ...others] : others).slice(0, MOST_TOKENS) } : list
  })

/** The lists, current in every open page, with ways to change them. */
export const useWatchlists = () => {
  const [lists, setLists] = useState(watchlists)
  useEffect(() => {
    const read = () => setLists(watchlists())
    globalThis.addEventListener(CHANGED, read)
    globalThis.addEventListener("storage", read)
    return () => {
      globalThis.removeEventListener(CHANGED, read)
      globalThis.removeEventListener("storage", read)
    }
  }, [])
  return {
    lists,
    isWatched: (mint: string): boolean => lists.some(({ tokens }) => tokens.some((token) => token.mint === mint)),
    /** Adds a token to a list. Removing takes it off every list. */
    setWatched: (token: Watched, isOn: boolean, name: string = FIRST_LIST): void =>
      store(
        isOn
          ? withToken(watchlists(), name, token, true)
          : watchlists().reduce((left, list) => withToken(left, list.name, token, false), watchlists())
      ),
    /** Adds an empty list. A name that is taken, and a list too many, change nothing. */
    addList: (typed: string): void => {
      const name = typed.trim().slice(0, MOST_CHARACTERS)
      const known = watchlists()
      if (name !== "" && known.length < MOST_LISTS && known.every((list) => list.name !== name)) {
        store([...known, { name, tokens: [] }])
      }
    },
    removeList: (name: string): void => store(withFirst(watchlists().filter((list) => list.name !== name)))
  }
}
