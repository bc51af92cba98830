/**
 * Live events for this page. One page of the browser, the leader, holds the sockets for all pages. It has the lock
 * `LEADER`, and hears the others over a `BroadcastChannel`. When it goes, another page gets the lock, and every page
 * asks for its events again. Without locks (a page over plain HTTP) each page holds its own sockets.
 */
import { type MarketEvent, MarketStream, type MarketTerms } from "./marketStream.ts"
import { type TrackerEvent, TrackerStream } from "./trackerStream.ts"

/** What a page follows. The group is null for all groups. */
export type Wish =
  | { readonly source: "market"; readonly terms: MarketTerms }
  | { readonly source: "tracker"; readonly group: string | null }

/** An event of a wish. */
export type LiveEvent = MarketEvent | TrackerEvent

/** Ends something that was started. */
type Stop = () => void

type Deliver = (page: string, id: string, event: LiveEvent) => void

type Message =
  | { readonly type: "follow"; readonly page: string; readonly id: string; readonly wish: Wish }
  | { readonly type: "leave"; readonly page: string; readonly id: string }
  | { readonly type: "event"; readonly page: string; readonly id: string; readonly event: LiveEvent }
  | { readonly type: "leader" }

const LEADER = "fathom-live"
const nameOfPage = (page: string): string => `${LEADER}-page-${page}`

/** The sockets, and what each page follows on them. */
class Hub {
  readonly #market = new MarketStream()
  readonly #trackers = new Map<string | null, TrackerStream>()
  readonly #followed = new Map<string, Map<string, Stop>>()
  readonly #send: Deliver
  /** Resolves when a page is gone. */
  readonly #gone: (page: string) => Promise<void>

  constructor(send: Deliver, gone: (page: string) => Promise<void>) {
    this.#send = send
    this.#gone = gone
  }

  follow(page: string, id: string, wish: Wish): void {
    const known = this.#followed.get(page)
    if (known?.has(id) === true) {
      return
    }
    const stops = known ?? new Map<string, Stop>()
    if (known === undefined) {
      this.#followed.set(page, stops)
      void this.#gone(page).then(() => this.#forget(page))
    }
    stops.set(
      id,
      this.#start(`${page}.${id}`, wish, (event) => this.#send(page, id, event))
    )
  }

  leave(page: string, id: string): void {
    this.#followed.get(page)?.get(id)?.()
    this.#followed.get(page)?.delete(id)
  }

  #forget(page: string): void {
    this.#followed.get(page)?.forEach((stop) => stop())
    this.#followed.delete(page)
  }

  #start(id: string, wish: Wish, listener: (event: LiveEvent) => void): Stop {
    if (wish.source === "market") {
      this.#market.add(id, wish.terms, listener)
      return () => this.#market.remove(id)
    }
    const stream = this.#trackers.get(wish.group) ?? new TrackerStream(wish.group)
    this.#trackers.set(wish.group, stream)
    stream.add(listener)
    return () => {
      stream.remove(listener)
      if (stream.isUnused) {
        this.#trackers.delete(wish.group)
      }
    }
  }
}

interface Followed {
  readonly wish: Wish
  readonly take: (event: LiveEvent) => void
}

/** Everything that this page follows, and its way to the hub. */
class Page {
  readonly #id = crypto.getRandomValues(new Uint32Array(2)).join("")
  readonly #wishes = new Map<string, Followed>()
  readonly #channel = "locks" in navigator ? new BroadcastChannel(LEADER) : null
  #hub: Hub | null = null
  #isHeld = false
  #last = 0

  constructor() {
    this.#channel?.addEventListener("message", ({ data }: MessageEvent<Message>) => this.#hear(data))
    if (this.#channel === null) {
      this.#lead()
    } else {
      // Held as long as the page lives: the leader waits for it to learn that this page is gone. So the page asks for
      // nothing before it holds the lock.
      void navigator.locks.request(nameOfPage(this.#id), () => {
        this.#isHeld = true
        this.#askAll()
        return new Promise<never>(() => {})
      })
      void navigator.locks.request(LEADER, () => {
        this.#lead()
        return new Promise<never>(() => {})
      })
    }
  }

  follow(wish: Wish, take: Followed["take"]): Stop {
    const id = String(++this.#last)
    this.#wishes.set(id, { wish, take })
    this.#ask(id, wish)
    return () => {
      this.#wishes.delete(id)
      this.#hub?.leave(this.#id, id)
      this.#tell({ type: "leave", page: this.#id, id })
    }
  }

  #tell(message: Message): void {
    this.#channel?.postMessage(message)
  }

  #ask(id: string, wish: Wish): void {
    if (this.#hub !== null) {
      this.#hub.follow(this.#id, id, wish)
    } else if (this.#isHeld) {
      this.#tell({ type: "follow", page: this.#id, id, wish })
    }
  }

  #askAll(): void {
    this.#wishes.forEach(({ wish }, id) => this.#ask(id, wish))
  }

  #lead(): void {
    const gone = (page: string) =>
      page === this.#id
        ? new Promise<never>(() => {})
        : navigator.locks.request(nameOfPage(page), () => Promise.resolve())
    this.#hub = new Hub((page, id, event) => this.#deliver(page, id, event), gone)
    this.#tell({ type: "leader" })
    this.#askAll()
  }

  #deliver(page: string, id: string, event: LiveEvent): void {
    if (page === this.#id) {
      this.#wishes.get(id)?.take(event)
    } else {
      this.#tell({ type: "event", page, id, event })
    }
  }

  #hear(message: Message): void {
    switch (message.type) {
      case "follow":
        return this.#hub?.follow(message.page, message.id, message.wish)
      case "leave":
        return this.#hub?.leave(message.page, message.id)
      case "event":
        return message.page === this.#id ? this.#wishes.get(message.id)?.take(message.event) : undefined
      case "leader":
        return this.#askAll()
    }
  }
}

let page: Page | null = null

/** Follows a wish until the returned function is called. The first event is the state of the connection. */
export const follow = (wish: Wish, take: (event: LiveEvent) => void): Stop => (page ??= new Page()).follow(wish, take)
