/** The followed accounts of a recording at the end of one slot. */
import { Effect } from "effect"
import type { Address } from "../../domain/Address.ts"
import type { ChainClock, OnChainAccount } from "../../domain/OnChainAccount.ts"
import { type Played, PlayedAccounts, type PlayedFile, playedFiles, slotOf } from "./playback.ts"
import type { RecordingUnreadable } from "./readRecording.ts"
import type { Moment } from "./recordEntry.ts"

/** Every followed account as the recording service knew it at the end of `slot`. */
export interface RecordedState {
  readonly slot: number
  /** When the newest slot up to here was heard, in milliseconds since the Unix epoch. */
  readonly heardAtMs: number
  readonly clock: ChainClock
  readonly accounts: ReadonlyMap<Address, OnChainAccount | null>
}

/** Milliseconds of reading after which other work has its turn. */
const TURN_MS = 5

/** Collects the state at the end of a slot from what arrived, in order. */
class StateAt {
  readonly #slot: number
  readonly #accounts = new PlayedAccounts()
  /** The newest moment of a slot up to the wanted one, and the stretch that covers it. */
  #moment: Moment | null = null
  #stretch: number | null = null
  /** Accounts that were followed no more at the next moment, which may be later than the wanted slot. */
  readonly #unwatched: Array<Played> = []
  /** The newest slot that was reached. */
  newest: number | null = null

  constructor(slot: number) {
    this.#slot = slot
  }

  /** Takes the next thing that arrived. Returns the state once the wanted slot is over, and null before. */
  take(played: Played): RecordedState | null {
    const at = played._tag === "Block" ? null : slotOf(played)
    const isLater = at !== null && at > this.#slot
    if (played._tag === "Unwatched") {
      this.#unwatched.push(played)
    } else if (!isLater) {
      this.#accounts.apply(played)
    }
    if ("moment" in played && played.moment.slot <= this.#slot) {
      this.#moment = played.moment
    }
    if (played._tag !== "Moment") {
      return null
    }
    this.newest = played.moment.slot
    if (!isLater) {
      this.#stretch = played.stretch
      this.#unwatched.splice(0).forEach((each) => this.#accounts.apply(each))
      return null
    }
    // The feed sends all writes of a slot before it reaches the next one.
    return played.stretch !== null && played.stretch === this.#stretch ? this.#state() : null
  }

  /** The state at the end of the recording, when the wanted slot is its last one. */
  last(): RecordedState | null {
    return this.newest === this.#slot && this.#stretch !== null ? this.#state() : null
  }

  #state(): RecordedState | null {
    if (this.#moment === null) {
      return null
    }
    const { epoch, heardAtMs, unixTimestamp } = this.#moment
    return {
      slot: this.#slot,
      heardAtMs,
      clock: { epoch, slot: this.#slot, unixTimestamp },
      accounts: this.#accounts.all
    }
  }
}

/** Reads on until the slot is over. Null when it is not covered. */
const readUpTo = Effect.fnUntraced(function* (files: ReadonlyArray<PlayedFile>, slot: number) {
  const state = new StateAt(slot)
  let turnEndsMs = performance.now() + TURN_MS
  for (const file of files) {
    for (const played of (yield* file.read) ?? []) {
      const found = state.take(played)
      if (found !== null || (state.newest ?? 0) > slot) {
        return found
      }
      if (performance.now() > turnEndsMs) {
        yield* Effect.yieldNow
        turnEndsMs = performance.now() + TURN_MS
      }
    }
  }
  return state.last()
})

/**
 * The state at the end of `slot`, as the recording service knew it: a write that its feed dropped, because a newer one of the
 * same account had come first, is missing. Null when no stretch of the recording covers the slot. Reads few files.
 */
export const recordedStateAt = Effect.fnUntraced(function* (
  folder: string,
  slot: number
): Effect.fn.Return<RecordedState | null, RecordingUnreadable> {
  const files = yield* playedFiles(folder)
  const later = files.findIndex((file) => file.slot > slot)
  const end = later === -1 ? files.length : later
  // The file before tells whether the stretch goes on in this one.
  for (const begin of [end - 1, end - 2].filter((at) => at >= 0)) {
    const found = yield* readUpTo(files.slice(begin, end + 1), slot)
    if (found !== null) {
      return found
    }
  }
  return null
})
