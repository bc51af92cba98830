import type { Mint } from "../../domain/Address.ts"
import { type Cursor, readCursor, writeCursor } from "./traderCursor.ts"
import { Ranking } from "../columnar/Ranking.ts"
import type { TraderRow, Traders, TraderWindow } from "../windows/Traders.ts"

/** A cursor is good for this long after the first page was read. */
export const CURSOR_MS = 30_000
/** Callers who come within this time of each other read the same view. */
const SHARED_MS = 2000
/** Views kept at once; the oldest goes first. */
const MOST_VIEWS = 64

/** A page of the ranking. */
export interface TraderPage {
  /** By observed volume in USD, largest first, then by address. */
  readonly rows: ReadonlyArray<TraderRow & { readonly rank: number }>
  /** Wallets in the whole view. */
  readonly total: number
  /** Where the next page begins; null at the end. */
  readonly cursor: string | null
  /** The moment that every row shows. */
  readonly asOfMs: number
}

/** Which page is asked for. The cursor, if any, goes with the same mint, window and limit that it was made with. */
export interface TraderPageRequest {
  readonly mint: Mint
  /** The token's number on the tape; 0 when the tape does not know it. */
  readonly token: number
  readonly window: TraderWindow
  readonly limit: number
  readonly cursor: string | null
  readonly nowMs: number
}

/** Why there is no such page: the cursor is not ours or was made with other selectors, or its view is gone. */
export type NoPage = "invalid_cursor" | "cursor_expired"

/** The ranking of a token's wallets as it was at one moment. */
interface View {
  readonly id: number
  readonly token: number
  readonly window: TraderWindow
  readonly madeAtMs: number
  readonly ranking: Ranking
  /** Rows that have changed since, as they were. */
  readonly kept: Map<number, TraderRow>
}

/**
 * Rankings that stay as they were while a caller turns the pages: a view takes the volumes once, finds places only as far
 * as they are read, and keeps each row as it was before the first change.
 */
export class TraderViews {
  private readonly views = new Map<number, View>()
  private readonly ofToken = new Map<number, Array<View>>()
  private readonly traders: Traders
  /** Tells the cursors of this process from those of every other. */
  private readonly origin: string
  private made = 0

  constructor(traders: Traders, origin: string) {
    this.traders = traders
    this.origin = origin
  }

  /** Keeps a row as it is for every view of its token. Called before each change. */
  beforeChange(token: number, trader: number): void {
    if (this.views.size === 0) {
      return
    }
    for (const view of this.ofToken.get(token) ?? []) {
      if (!view.kept.has(trader)) {
        view.kept.set(trader, this.traders.read(trader, view.window))
      }
    }
  }

  /** Ends every view of a token: what they show was corrected. */
  drop(token: number): void {
    for (const view of this.ofToken.get(token) ?? []) {
      this.views.delete(view.id)
    }
    this.ofToken.delete(token)
  }

  /** Ends the views that no cursor can ask for any more. */
  expire(nowMs: number): void {
    for (const view of this.views.values()) {
      if (nowMs < view.madeAtMs + CURSOR_MS + SHARED_MS) {
        return
      }
      this.end(view)
    }
  }

  /** One page. Costs the first time what the token has wallets, and then only what the page has rows. */
  page(request: TraderPageRequest): TraderPage | NoPage {
    this.expire(request.nowMs)
    if (request.cursor !== null) {
      return this.nextPage(request, request.cursor)
    }
    if (request.token === 0) {
      return { rows: [], total: 0, cursor: null, asOfMs: request.nowMs }
    }
    const view = this.shared(request.token, request) ?? this.make(request.token, request)
    return this.read(view, request, { view: view.id, place: 0, untilMs: request.nowMs + CURSOR_MS })
  }

  private nextPage(request: TraderPageRequest, text: string): TraderPage | NoPage {
    const cursor = readCursor(text, this.origin, request)
    if (typeof cursor === "string") {
      return cursor
    }
    const view = this.views.get(cursor.view)
    return view === undefined || request.nowMs > cursor.untilMs ? "cursor_expired" : this.read(view, request, cursor)
  }

  private read(view: View, request: TraderPageRequest, cursor: Cursor): TraderPage {
    const rows: Array<TraderRow & { readonly rank: number }> = []
    for (let place = cursor.place; place < cursor.place + request.limit; place++) {
      const trader = view.ranking.at(place)
      if (trader === undefined) {
        break
      }
      rows.push({ rank: place + 1, ...(view.kept.get(trader) ?? this.traders.read(trader, view.window)) })
    }
    const place = cursor.place + rows.length
    const more = place < view.ranking.size
    return {
      rows,
      total: view.ranking.size,
      cursor: more ? writeCursor({ ...cursor, place }, this.origin, request) : null,
      asOfMs: view.madeAtMs
    }
  }

  private shared(token: number, { window, nowMs }: TraderPageRequest): View | undefined {
    return this.ofToken.get(token)?.findLast((view) => view.window === window && nowMs < view.madeAtMs + SHARED_MS)
  }

  private make(token: number, { window, nowMs }: TraderPageRequest): View {
    const [oldest] = this.views.values()
    if (this.views.size >= MOST_VIEWS && oldest !== undefined) {
      this.end(oldest)
    }
    const kept = new Map<number, TraderRow>()
    const view: View = {
      id: ++this.made,
      token,
      window,
      madeAtMs: nowMs,
      ranking: this.rank(token, window, kept),
      kept
    }
    this.views.set(view.id, view)
    this.ofToken.set(token, [...(this.ofToken.get(token) ?? []), view])
    return view
  }

  private rank(token: number, window: TraderWindow, kept: Map<number, TraderRow>): Ranking {
    const all = this.traders.of(token)
    const ids = new Uint32Array(all.length)
    const high = new Float64Array(all.length)
    const low = new Float64Array(all.length)
    const volume = new Float64Array(2)
    let size = 0
    for (const trader of all) {
      if (this.traders.isIn(trader, window)) {
        this.traders.volume(trader, window, volume)
        ids[size] = trader
        high[size] = volume[0] ?? 0
        low[size] = volume[1] ?? 0
        size++
      }
    }
    const walletOf = (trader: number) => kept.get(trader)?.wallet ?? this.traders.walletOf(trader)
    return new Ranking({ ids: ids.subarray(0, size), high, low }, (a, b) => (walletOf(a) < walletOf(b) ? -1 : 1))
  }

  private end(view: View): void {
    this.views.delete(view.id)
    const others = (this.ofToken.get(view.token) ?? []).filter((other) => other !== view)
    if (others.length === 0) {
      this.ofToken.delete(view.token)
    } else {
      this.ofToken.set(view.token, others)
    }
  }
}
