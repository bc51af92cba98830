import type { Mint } from "../../domain/Address.ts"
import { Ranking } from "../columnar/Ranking.ts"
import type { TraderRow, Traders, TraderWindow } from "./Traders.ts"
import { type Opened, type Pin, PinnedViews } from "./PinnedViews.ts"

/** Pages can be read for 30 s after the first page. First pages within 2 s share a view. */
export const LIMITS = { lifeMs: 30_000, most: 64, sharedMs: 2000 }

/** A page of the ranking. */
export interface TraderPage {
  /** By observed volume in USD, largest first, then by address. */
  readonly rows: ReadonlyArray<TraderRow & { readonly rank: number }>
  /** Wallets in the whole view. */
  readonly total: number
  /** The start of the next page; null at the end. */
  readonly next: Pin | null
  /** The time that every row shows. */
  readonly asOfMs: number
  /** The same object for all pages of a view. Callers use it as a key for what holds for the whole view. */
  readonly view: object
}

/** Selects a page: the first page, or the page of a pin with the same mint and window. */
export interface TraderPageRequest {
  readonly mint: Mint
  /** The number of the token; 0 when it is unknown. */
  readonly token: number
  readonly window: TraderWindow
  readonly limit: number
  readonly pin: Pin | null
  readonly nowMs: number
}

/** The ranking of a token's wallets at one time. */
interface View {
  readonly token: number
  readonly window: TraderWindow
  /** The first second of the window when the view was made. */
  readonly from: number
  readonly madeAtMs: number
  readonly ranking: Ranking
  /** Rows that have changed since, as they were before. */
  readonly kept: Map<number, TraderRow>
}

/**
 * Rankings that do not change while a caller turns the pages. A view copies the volumes once, orders them only as far
 * as they are read, and copies a row before its first change.
 */
export class TraderViews {
  readonly #views: PinnedViews<View>
  readonly #ofToken = new Map<number, ReadonlyArray<View>>()
  readonly #traders: Traders

  constructor(traders: Traders, origin: string) {
    this.#traders = traders
    this.#views = new PinnedViews(origin, LIMITS, (view) => this.#ended(view))
  }

  /** Copies a row for every view of its token. Called before each change. */
  beforeChange(token: number, trader: number): void {
    if (this.#ofToken.size === 0) {
      return
    }
    for (const view of this.#ofToken.get(token) ?? []) {
      if (!view.kept.has(trader)) {
        view.kept.set(trader, this.#traders.read(trader, view.window, view.from))
      }
    }
  }

  /** Ends every view of a token. */
  drop(token: number): void {
    this.#views.endWhere((view) => view.token === token)
  }

  /**
   * Reads one page; null when its view has ended. The first page takes time for every wallet of the token, later pages
   * only for their own rows.
   */
  page(request: TraderPageRequest): TraderPage | null {
    const { nowMs, pin, token, window } = request
    this.#views.expire(nowMs)
    if (pin !== null) {
      const view = this.#views.get(pin, nowMs)
      return view?.token === token && view.window === window ? this.#read({ view, pin }, request.limit) : null
    }
    const key = `${token} ${window}`
    return token === 0
      ? { rows: [], total: 0, next: null, asOfMs: nowMs, view: {} }
      : this.#read(this.#views.recent(key, nowMs) ?? this.#views.add(key, nowMs, this.#make(request)), request.limit)
  }

  #read({ pin, view }: Opened<View>, limit: number): TraderPage {
    const rows: Array<TraderRow & { readonly rank: number }> = []
    for (let place = pin.place; place < pin.place + limit; place++) {
      const trader = view.ranking.at(place)
      if (trader === undefined) {
        break
      }
      rows.push({ rank: place + 1, ...(view.kept.get(trader) ?? this.#traders.read(trader, view.window, view.from)) })
    }
    const place = pin.place + rows.length
    const { size } = view.ranking
    return { rows, total: size, next: place < size ? { ...pin, place } : null, asOfMs: view.madeAtMs, view }
  }

  #make({ nowMs, token, window }: TraderPageRequest): View {
    const kept = new Map<number, TraderRow>()
    const from = this.#traders.fromOf(window)
    const view: View = { token, window, from, madeAtMs: nowMs, ranking: this.#rank(token, window, kept), kept }
    this.#ofToken.set(token, [...(this.#ofToken.get(token) ?? []), view])
    return view
  }

  #rank(token: number, window: TraderWindow, kept: Map<number, TraderRow>): Ranking {
    const all = this.#traders.of(token)
    const ids = new Uint32Array(all.length)
    const high = new Float64Array(all.length)
    const low = new Float64Array(all.length)
    const volume = new Float64Array(2)
    let size = 0
    for (const trader of all) {
      if (this.#traders.isIn(trader, window)) {
        this.#traders.volume(trader, window, volume)
        ids[size] = trader
        high[size] = volume[0] ?? 0
        low[size] = volume[1] ?? 0
        size++
      }
    }
    const walletOf = (trader: number) => kept.get(trader)?.wallet ?? this.#traders.walletOf(trader)
    return new Ranking({ ids: ids.subarray(0, size), high, low }, (a, b) => (walletOf(a) < walletOf(b) ? -1 : 1))
  }

  #ended(view: View): void {
    const others = (this.#ofToken.get(view.token) ?? []).filter((other) => other !== view)
    if (others.length === 0) {
      this.#ofToken.delete(view.token)
    } else {
      this.#ofToken.set(view.token, others)
    }
  }
}
