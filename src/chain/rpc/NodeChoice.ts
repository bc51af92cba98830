import type { Array } from "effect"
import type { RpcNode } from "./rpcSettings.ts"

/**
 * How the chain of a node compares with the known chain. `same`: it is the known chain, or unknown. `foreign`: it is
 * another chain, while some node still serves the known one. `replaced`: it is another chain, and no node serves the known
 * one any more. From now on it is the known chain.
 */
export type ChainVerdict = "same" | "foreign" | "replaced"

/** Chooses one node out of several, and keeps track of the chain that they serve. */
export class NodeChoice {
  readonly nodes: Array.NonEmptyReadonlyArray<RpcNode>
  #at = 0
  #genesis: string | null = null
  readonly #seen = new Map<RpcNode, string>()
  readonly #wanted: (() => string | null) | null

  /** `wanted` returns the chain that the nodes must serve, where another source decides which chain that is. */
  constructor(nodes: Array.NonEmptyReadonlyArray<RpcNode>, wanted: (() => string | null) | null = null) {
    this.nodes = nodes
    this.#wanted = wanted
  }

  /** The genesis hash of the known chain; null before a node was identified. */
  get genesis(): string | null {
    return this.#genesis
  }

  /** False when the node's chain must be compared again: the node last served another chain than the wanted one. */
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

  /** Leaves this node for the next one. False when another node is in use already, or there is no other. */
  leave(node: RpcNode): boolean {
    if (node !== this.current || !this.hasOthers) {
      return false
    }
    this.#at = (this.#at + 1) % this.nodes.length
    return true
  }

  /** True when the hash belongs to the known chain, or when either is unknown. Changes nothing. */
  isKnown(genesis: string | null): boolean {
    return genesis === null || this.#genesis === null || this.#genesis === genesis
  }

  /** Compares a node's genesis hash with the known chain; null when the node does not report its hash. */
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
    return "replaced"
  }
}
