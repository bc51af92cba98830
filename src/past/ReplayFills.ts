/** Fills of a replay: intended swaps, executed against the recorded state. A live market has none. */
import { Context, Effect, Layer, Schema } from "effect"
import type { Address } from "../domain/Address.ts"
import { jsonOf } from "../domain/jsonOf.ts"
import { CurrentReplay, type OpenReplay, type ReplayWatcher } from "../chain/recording/Replay.ts"
import type { Moment } from "../chain/recording/recordEntry.ts"
import { Stopped } from "./executeHops.ts"
import { type Fill, FillBook, type FillOrder, MOST_OF_POOL } from "./FillBook.ts"

/** Swaps of one owner in one replay. */
const MOST_FILLS = 1000

/** This process plays no recording. */
export class NotAReplay extends Schema.TaggedError<NotAReplay>()("NotAReplay", {}) {}

/** The swap has no price now. */
export class FillRefused extends Schema.TaggedError<FillRefused>()("FillRefused", {
  code: Schema.String,
  detail: Schema.String
}) {}

/** The id belongs to another swap. */
export class FillIdReused extends Schema.TaggedError<FillIdReused>()("FillIdReused", {}) {}

/** The owner has `MOST_FILLS` swaps, or `MOST_OF_POOL` in a pool. */
export class TooManyFills extends Schema.TaggedError<TooManyFills>()("TooManyFills", { detail: Schema.String }) {}

/** The wallet trades in the recording, or another owner swaps with it. */
export class WalletNotFree extends Schema.TaggedError<WalletNotFree>()("WalletNotFree", { detail: Schema.String }) {}

/** The slot of the swap never comes. */
export class ReplayHasEnded extends Schema.TaggedError<ReplayHasEnded>()("ReplayHasEnded", {}) {}

/** Why a swap is not taken. */
type NotTaken = FillRefused | FillIdReused | TooManyFills | WalletNotFree | ReplayHasEnded

/** A swap as it is posted. Its least output is given, or follows from the slippage and the quoted output. */
export interface FillRequest extends Pick<
  FillOrder,
  "id" | "wallet" | "inputMint" | "outputMint" | "amount" | "pools" | "model"
> {
  readonly latencySlots: number
  readonly quotedOut: bigint | null
  readonly minOut: bigint | null
  readonly slippageBps: number
}

export interface ReplayFills {
  /** Takes a swap, or returns the one that this id already has. */
  readonly post: (owner: string, request: FillRequest) => Effect.Effect<Fill, NotAReplay | NotTaken>
  /** The owner's swaps in the order in which they were posted, and the newest slot of the replay. */
  readonly list: (
    owner: string
  ) => Effect.Effect<{ readonly fills: ReadonlyArray<Fill>; readonly slot: number }, NotAReplay>
  /** Filled swaps of a wallet in the order of their slots. One owner posted all of them. */
  readonly filledBy: (wallet: Address) => ReadonlyArray<Fill>
  /** Filled swaps of all wallets, in the order in which they were decided, without the first `count`. */
  readonly filledAfter: (count: number) => ReadonlyArray<Fill>
  /** True once the replay has ended and no block after this slot comes. */
  readonly endsBy: (slot: number) => boolean
}

/** The order of a wallet's swaps. */
export const bySlot = (a: Fill, b: Fill): number => a.slot - b.slot || (a.rank ?? 0) - (b.rank ?? 0)

const notAReplay = new NotAReplay()
const NO_FILLS: ReadonlyArray<Fill> = []

/** The fills of this process. Without a replay there are none. */
export const ReplayFills = Context.Reference<ReplayFills>("fathom/past/ReplayFills", {
  defaultValue: () => ({
    post: () => Effect.fail(notAReplay),
    list: () => Effect.fail(notAReplay),
    filledBy: () => [],
    filledAfter: () => NO_FILLS,
    endsBy: () => false
  })
})

/** The least output that the slippage allows, rounded down. */
const leastOut = (quotedOut: bigint, slippageBps: number): bigint =>
  (quotedOut * (10_000n - BigInt(slippageBps))) / 10_000n

/** The swaps of all owners of a replay. */
export class FillBooks implements ReplayWatcher {
  readonly #replay: Pick<OpenReplay, "accounts" | "pace">
  readonly #books = new Map<string, { readonly book: FillBook; readonly posted: Map<string, string> }>()
  /** Who swaps with a wallet. */
  readonly #owners = new Map<Address, string>()
  /** Wallets with trades in the blocks so far. */
  readonly #recorded = new Set<Address>()
  /** In the order in which they were decided. */
  readonly #filled: Array<Fill> = []
  #hasEnded = false
  #newestBlock = 0
  #moment: Moment
  /** The newest slot that has begun. */
  #begun: number

  constructor(replay: Pick<OpenReplay, "accounts" | "moment" | "pace">) {
    this.#replay = replay
    this.#moment = replay.moment
    this.#begun = replay.moment.slot
  }

  #state() {
    const { epoch, unixTimestamp } = this.#moment
    const { all } = this.#replay.accounts
    return { accounts: (address: Address) => all.get(address), clock: { slot: this.slot, epoch, unixTimestamp } }
  }

  /** The newest slot of the replay. */
  get slot(): number {
    return Math.max(this.#begun, this.#replay.pace.slot)
  }

  slotBegins(slot: number, moment: Moment): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.#moment = moment
      this.#begun = Math.max(this.#begun, slot)
      return this.#execute(slot)
    })
  }

  /** Executes what is due. Answers other requests after each swap. */
  readonly #execute = Effect.fnUntraced({ self: this }, function* (slot: number) {
    const state = this.#state()
    for (const { book } of this.#books.values()) {
      for (const _ of book.slotBegins(slot, state)) {
        yield* Effect.yieldNow
      }
    }
  })

  block(event: Parameters<ReplayWatcher["block"]>[0]): void {
    const state = this.#state()
    if (event._tag === "Block") {
      this.#newestBlock = Math.max(this.#newestBlock, event.block.slot)
      for (const { legs, nets } of event.block.transactions) {
        legs.forEach(({ wallet }) => this.#recorded.add(wallet))
        nets.forEach(({ wallet }) => this.#recorded.add(wallet))
      }
    }
    this.#books.forEach(({ book }) => (event._tag === "Block" ? book.block(event.block, state) : book.gap(event.from)))
  }

  ended(): void {
    this.#hasEnded = true
    this.#books.forEach(({ book }) => book.ended())
  }

  #of(owner: string) {
    const known = this.#books.get(owner)
    if (known !== undefined) {
      return known
    }
    const made = { book: new FillBook(owner, (fill) => this.#filled.push(fill)), posted: new Map<string, string>() }
    this.#books.set(owner, made)
    return made
  }

  /** Why a wallet cannot be swapped with; null when it can. */
  #takenBy(owner: string, wallet: Address): WalletNotFree | null {
    if ((this.#owners.get(wallet) ?? owner) !== owner) {
      return new WalletNotFree({ detail: `Another account swaps with wallet ${wallet}: choose another one.` })
    }
    // Its trades would be mixed with the fills.
    return this.#recorded.has(wallet)
      ? new WalletNotFree({ detail: `Wallet ${wallet} has trades in the recording: choose one that has none.` })
      : null
  }

  #limitOf(book: FillBook, request: FillRequest): TooManyFills | null {
    if (book.all.length >= MOST_FILLS) {
      return new TooManyFills({ detail: `A replay takes ${MOST_FILLS} swaps of an account: start it again.` })
    }
    const pool = book.fullPool(request)
    const detail = `Pool ${pool} takes ${MOST_OF_POOL} swaps of an account under the model recorded.`
    return pool === null ? null : new TooManyFills({ detail })
  }

  post(owner: string, request: FillRequest): Fill | NotTaken {
    const { book, posted } = this.#of(owner)
    const text = jsonOf(request)
    const earlier = posted.get(request.id)
    const known = book.get(request.id)
    if (earlier !== undefined && known !== null) {
      return earlier === text ? known : new FillIdReused()
    }
    const refused = this.#hasEnded
      ? new ReplayHasEnded()
      : (this.#takenBy(owner, request.wallet) ?? this.#limitOf(book, request))
    if (refused !== null) {
      return refused
    }
    const { latencySlots, minOut, quotedOut, slippageBps, ...swap } = request
    const hops = book.quote(swap, this.#state())
    if (hops instanceof Stopped) {
      return new FillRefused({ code: hops.code, detail: hops.detail })
    }
    const quoted = quotedOut ?? hops.at(-1)?.amountOut ?? 0n
    posted.set(request.id, text)
    this.#owners.set(request.wallet, owner)
    return book.add({
      ...swap,
      quotedOut: quoted,
      minOut: minOut ?? leastOut(quoted, slippageBps),
      postedSlot: this.slot,
      slot: this.slot + latencySlots
    })
  }

  list(owner: string): ReadonlyArray<Fill> {
    return this.#books.get(owner)?.book.all ?? []
  }

  filledBy(wallet: Address): ReadonlyArray<Fill> {
    return this.list(this.#owners.get(wallet) ?? "")
      .filter((fill) => fill.status === "filled" && fill.wallet === wallet)
      .toSorted(bySlot)
  }

  filledAfter(count: number): ReadonlyArray<Fill> {
    return count < this.#filled.length ? this.#filled.slice(count) : NO_FILLS
  }

  endsBy(slot: number): boolean {
    return this.#hasEnded && slot >= this.#newestBlock
  }
}

/** The fills of this replay. */
export const fillsOf = (books: FillBooks): ReplayFills => ({
  post: (owner, request) =>
    Effect.suspend(() => {
      const fill = books.post(owner, request)
      return "_tag" in fill ? Effect.fail(fill) : Effect.succeed(fill)
    }),
  list: (owner) => Effect.sync(() => ({ fills: books.list(owner), slot: books.slot })),
  filledBy: (wallet) => books.filledBy(wallet),
  filledAfter: (count) => books.filledAfter(count),
  endsBy: (slot) => books.endsBy(slot)
})

/** The fills of the replay of this process; none without one. */
export const layer: Layer.Layer<never> = Layer.unwrap(
  Effect.map(CurrentReplay, (replay): Layer.Layer<never> => {
    if (replay === null) {
      return Layer.empty
    }
    const books = new FillBooks(replay)
    replay.watchers.add(books)
    return Layer.succeed(ReplayFills, fillsOf(books))
  })
)
