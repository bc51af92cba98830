/** Programs that the provider refuses to search. */
import type { Program } from "../../programs/interface/Program.ts"
import type { Address, Mint } from "../../domain/Address.ts"
import type { SourceState } from "../../operations/SourceMonitor.ts"
import type { ChainUnavailable } from "../../chain/ChainUnavailable.ts"

/** A refused search is tried again after this many milliseconds: a provider may change what it offers. */
const ASKED_AGAIN_MS = 3_600_000

interface Refused {
  readonly dex: string
  readonly node: string | undefined
  /** By the monotonic clock. */
  readonly atMs: number
}

/** What refusals depend on: the node and the clocks. */
export interface RefusalScene {
  /** Host of the node that is searched. */
  readonly node: () => string | undefined
  /** Milliseconds since the Unix epoch. */
  readonly nowMs: () => number
  /** Milliseconds of a monotonic clock. */
  readonly monotonicMs: () => number
}

/**
 * Remembers refused searches. A program is searched again after an hour, or at another node. When a result would be
 * too large, only the search for that mint is refused.
 */
export class SearchRefusals {
  readonly #refused = new Map<Address, Refused>()
  readonly #tooLarge = new Map<Mint, Map<Address, Refused>>()
  readonly #scene: RefusalScene
  #answeredAtMs: number | null = null
  #failedAtMs: number | null = null

  constructor(scene: RefusalScene) {
    this.#scene = scene
  }

  /** True while a program is not searched for this mint. */
  isRefused({ programId }: Program, mint: Mint): boolean {
    return this.#holds(this.#refused.get(programId)) || this.#holds(this.#tooLarge.get(mint)?.get(programId))
  }

  /** True while any program is not searched. */
  get some(): boolean {
    return this.#refused.size > 0 || this.#tooLarge.size > 0
  }

  /** Records that the node answered a search of this program. */
  answered({ programId }: Program): void {
    this.#refused.delete(programId)
    this.#answeredAtMs = this.#scene.nowMs()
  }

  /** Records that every search of a program for the mint was answered. */
  searched({ programId }: Program, mint: Mint): void {
    const refused = this.#tooLarge.get(mint)
    refused?.delete(programId)
    if (refused?.size === 0) {
      this.#tooLarge.delete(mint)
    }
  }

  /** Forgets a mint that is no longer in memory. */
  forget(mint: Mint): void {
    this.#tooLarge.delete(mint)
  }

  /** Records a refused search. Returns true when the refusal is new. */
  refused(
    { dex, programId }: Program,
    mint: Mint,
    { isTooLarge, node = this.#scene.node() }: ChainUnavailable
  ): boolean {
    const known = isTooLarge === true ? (this.#tooLarge.get(mint) ?? new Map<Address, Refused>()) : this.#refused
    const before = known.get(programId)
    known.set(programId, { dex, node, atMs: this.#scene.monotonicMs() })
    if (known !== this.#refused) {
      this.#tooLarge.set(mint, known)
    }
    this.#failedAtMs = this.#scene.nowMs()
    return before === undefined || before.node !== node
  }

  /** Names the refused programs and the setting that helps; null when there are none. */
  get advice(): string | null {
    const all = [this.#refused, ...this.#tooLarge.values()].flatMap((each) => Array.from(each.values()))
    const names = Array.from(new Set(all.map(({ dex }) => dex))).toSorted()
    return names.length === 0
      ? null
      : `The node refuses getProgramAccounts for ${names.join(", ")}: set SOLANA_RPC_URL to one that answers it. ` +
          "Until then their pools are learned from trades, soonest from a stream at GEYSER_URL."
  }

  /** The state of searching, as a source. */
  state(): SourceState {
    const { advice } = this
    return {
      observedAtMs: this.#answeredAtMs,
      failedAtMs: this.#failedAtMs,
      status: advice === null ? (this.#answeredAtMs === null ? "unavailable" : "known") : "partial",
      ...(advice !== null && { reason: "not_captured" as const, advice })
    }
  }

  #holds(refused: Refused | undefined): boolean {
    const { monotonicMs, node } = this.#scene
    return refused !== undefined && refused.node === node() && monotonicMs() - refused.atMs < ASKED_AGAIN_MS
  }
}

/** True when the node refused the search. Such a search is not retried. */
export const isRefusal = ({ isRefused }: ChainUnavailable): boolean => isRefused === true
