import type { Array } from "effect"
import type { RpcNode } from "./rpcSettings.ts"

/**
 * The chain of a node compared with that of the nodes before it. `same`: the same, or unknown. `foreign`: another, while some
 * node still serves the known one. `anew`: another, and no node serves the known one any more; from now on it is the known one.
 */
export type ChainVerdict = "same" | "foreign" | "anew"

/** The node in use out of several, and the chain that they serve. */
export class NodeChoice {
  readonly nodes: Array.NonEmptyReadonlyArray<RpcNode>
  #at = 0
  #genesis: string | null = null
  readonly #seen = new Map<RpcNode, string>()
  readonly #wanted: (() => string | null) | null

  /** `wanted` is the chain that nodes must serve, where others decide which one is known. */
  constructor(nodes: Array.NonEmptyReadonlyArray<RpcNode>, wanted: (() => string | null) | null = null) {
    this.nodes = nodes
    this.#wanted = wanted
  }

  /** The hash of the known chain; null before a node was identified. */
  get genesis(): string | null {
    return this.#genesis
  }

  /** False when the chain of this node must be compared again, because another chain is wanted than the one it was seen to serve. */
  isUpToDate(node: RpcNode): boolean {
    return this.#wanted === null || this.#seen.get(node) === this.#wanted()
  }

  get current(): RpcNode {
    return this.nodes[this.#at] ?? this.nodes[0]
  }

  /** True when there is a node to fail over to. */
  get hasOthers(): boolean {
    return this.nodes.length > 1
  }

  /** Chooses the next node after this one; false when another is in use already, or there is none. */
  leave(node: RpcNode): boolean {
    if (node !== this.current || !this.hasOthers) {
      return false
    }
    this.#at = (this.#at + 1) % this.nodes.length
    return true
  }

  /** True for the hash of the known chain, and while one of the two is unknown. Changes nothing. */
  isKnown(genesis: string | null): boolean {
    return genesis === null || this.#genesis === null || this.#genesis === genesis
  }

  /** Compares the genesis hash of a node; null when the node does not report it. */
  identify(node: RpcNode, genesis: string | null): ChainVerdict {
    if (this.#wanted !== null) {
      this.#seen.set(node, genesis ?? "")
      return genesis !== null && genesis === this.#wanted() ? "same" : "foreign"
    }
    if (genesis === null) {
      return "same"
    }
    this.#seen.set(node, genesis)
    if (this.#genesis === null || this.#genesis === genesis) {
      this.#genesis = genesis
      return "same"
    }
    if (this.nodes.some((other) => this.#seen.get(other) === this.#genesis)) {
      return "foreign"
    }
    this.#genesis = genesis
    return "anew"
  }
}
