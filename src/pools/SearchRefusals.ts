/** Programs whose pools the provider does not let be searched. */
import type { Program } from "../programs/Program.ts"
import type { Address } from "../domain/Address.ts"
import type { SourceState } from "../health/SourceMonitor.ts"
import type { ChainUnavailable } from "../solana/accounts/ChainFeed.ts"

/** Time after which a refused search is tried again: a provider may change what it offers. */
const ASKED_AGAIN_MS = 3_600_000

interface Refused {
  readonly dex: string
  readonly node: string | undefined
  readonly atMs: number
}

/** Refused searches. A program is searched again after an hour, or at another node. */
export class SearchRefusals {
  readonly #refused = new Map<Address, Refused>()
  readonly #node: () => string | undefined
  readonly #nowMs: () => number
  #answeredAtMs: number | null = null
  #failedAtMs: number | null = null

  constructor(node: () => string | undefined, nowMs: () => number) {
    this.#node = node
    this.#nowMs = nowMs
  }

  /** True while a program is not searched. */
  isRefused({ programId }: Program): boolean {
    const known = this.#refused.get(programId)
    return known !== undefined && known.node === this.#node() && this.#nowMs() - known.atMs < ASKED_AGAIN_MS
  }

  /** True while some program is not searched, so that a mint without a pool may have one. */
  get some(): boolean {
    return this.#refused.size > 0
  }

  /** A search was answered. */
  answered({ programId }: Program): void {
    this.#refused.delete(programId)
    this.#answeredAtMs = this.#nowMs()
  }

  /** A search was refused; true where that was not known. */
  refused({ dex, programId }: Program): boolean {
    const node = this.#node()
    const isNews = this.#refused.get(programId)?.node !== node || !this.#refused.has(programId)
    this.#failedAtMs = this.#nowMs()
    this.#refused.set(programId, { dex, node, atMs: this.#failedAtMs })
    return isNews
  }

  /** The refused programs and the setting that helps; null without any. */
  get advice(): string | null {
    const names = Array.from(this.#refused.values(), ({ dex }) => dex).toSorted()
    return names.length === 0
      ? null
      : `The node refuses getProgramAccounts for ${names.join(", ")}: set SOLANA_RPC_URL to one that answers it. ` +
          "Until then their pools are learned from trades, soonest from a stream at GEYSER_URL."
  }

  /** The state of the search as a source. */
  state(): SourceState {
    const { advice } = this
    return {
      observedAtMs: this.#answeredAtMs,
      failedAtMs: this.#failedAtMs,
      status: advice === null ? (this.#answeredAtMs === null ? "unavailable" : "known") : "partial",
      ...(advice !== null && { reason: "not_captured" as const, advice })
    }
  }
}

/** True for the refusal of a search, which is not repeated. */
export const isRefusal = ({ isRefused }: ChainUnavailable): boolean => isRefused === true
