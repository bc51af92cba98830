/** Cursors of a ranking, opaque to callers: the view, the place in it, and the selectors that it was made with. */
import type { Mint } from "../../domain/Address.ts"
import type { TraderWindow } from "../windows/Traders.ts"

/** Where a page begins, and until when it may be asked for. */
export interface Cursor {
  readonly view: number
  readonly place: number
  /** Milliseconds since the Unix epoch. */
  readonly untilMs: number
}

/** What must be the same on every page. */
interface Selectors {
  readonly mint: Mint
  readonly window: TraderWindow
  readonly limit: number
}

const MOST_LENGTH = 512

/** Letters of URL-safe base64. */
const encode = (text: string): string => btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")

const decode = (text: string): string | null => {
  if (text.length > MOST_LENGTH || !/^[A-Za-z0-9_-]+$/u.test(text) || text.length % 4 === 1) {
    return null
  }
  return atob(text.replaceAll("-", "+").replaceAll("_", "/"))
}

/** The text of a cursor. `origin` names the process whose views it counts. */
export const writeCursor = (cursor: Cursor, origin: string, { mint, window, limit }: Selectors): string =>
  encode([origin, cursor.view, cursor.place, cursor.untilMs, mint, window, limit].join(" "))

/** The cursor of a text; it is invalid with other selectors, and expired when another process made it. */
export const readCursor = (
  text: string,
  origin: string,
  { mint, window, limit }: Selectors
): Cursor | "invalid_cursor" | "cursor_expired" => {
  const parts = /^(\S+) (\d{1,15}) (\d{1,15}) (\d{1,15}) (\S+) (\S+) (\d{1,4})$/u.exec(decode(text) ?? "")
  if (parts === null) {
    return "invalid_cursor"
  }
  const [, madeBy, view, place, untilMs, ...selectors] = parts
  if (selectors[0] !== mint || selectors[1] !== window || Number(selectors[2]) !== limit) {
    return "invalid_cursor"
  }
  return madeBy === origin ? { view: Number(view), place: Number(place), untilMs: Number(untilMs) } : "cursor_expired"
}
