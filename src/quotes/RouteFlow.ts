/** A trade that flows through several pools at once, each used in one direction, from the input mint to the output mint. */
import type { Pool } from "../programs/interface/Program.ts"
import type { ChainClock } from "../domain/OnChainAccount.ts"
import type { Address, Mint } from "../domain/Address.ts"
import { attempt } from "./bestDirect.ts"

/** One pool of the flow, used in one direction. */
export interface Edge {
  readonly pool: Pool
  readonly from: Mint
  readonly to: Mint
  /** Everything that flows in, and what the pool pays for it. */
  input: bigint
  output: bigint
  /** The increase that was tried last, and what it gains. */
  asked: bigint
  gain: bigint | null
}

/** A pool on a path and the direction in which it is used. */
export interface PathHop {
  readonly pool: Pool
  readonly from: Mint
  readonly to: Mint
}

/** How much of a mint arrives, and through which pool. */
interface Reached {
  readonly amount: bigint
  readonly via: Edge | null
  readonly before: Reached | null
}

/** A change of the flow along one path: how the output changes, and what is added to each pool. */
export interface Change {
  readonly amountOut: bigint
  readonly hops: ReadonlyArray<{ readonly edge: Edge; readonly input: bigint; readonly output: bigint }>
}

const changeOf = (end: Reached): Change => {
  const hops: Array<Change["hops"][number]> = []
  for (let at = end; at.via !== null && at.before !== null; at = at.before) {
    hops.push({ edge: at.via, input: at.before.amount, output: at.amount })
  }
  return { amountOut: end.amount, hops }
}

/**
 * Sorts the mints so that every pool leads forward. Null if there is no such order, or if a path has more than `most`
 * pools.
 */
const ordered = (hops: Iterable<PathHop>, start: Mint, most: number): ReadonlyArray<Mint> | null => {
  const depths = new Map<Mint, number>([[start, 0]])
  const all = Array.from(hops)
  for (let isSettled = false; !isSettled;) {
    isSettled = true
    for (const { from, to } of all) {
      const depth = (depths.get(from) ?? -1) + 1
      if (depth > 0 && depth > (depths.get(to) ?? -1)) {
        if (depth > most) {
          return null
        }
        depths.set(to, depth)
        isSettled = false
      }
    }
  }
  return Array.from(depths.keys()).toSorted((a, b) => (depths.get(a) ?? 0) - (depths.get(b) ?? 0))
}

/** The flow. Every pool starts from its state in memory and executes one swap, for everything that flows into it. */
export class RouteFlow {
  readonly #ends: { readonly inputMint: Mint; readonly outputMint: Mint; readonly maxHops: number }
  readonly #clock: ChainClock
  readonly #edges = new Map<Address, Edge>()
  #outgoing = new Map<Mint, Array<Edge>>()
  #order: ReadonlyArray<Mint> = []

  constructor(
    ends: { readonly inputMint: Mint; readonly outputMint: Mint; readonly maxHops: number },
    clock: ChainClock
  ) {
    this.#ends = ends
    this.#clock = clock
  }

  /** Mints in the order of execution, input first. */
  get order(): ReadonlyArray<Mint> {
    return this.#order
  }

  /** Pools that take this mint, whether or not anything flows through them yet. */
  from(mint: Mint): ReadonlyArray<Edge> {
    return this.#outgoing.get(mint) ?? []
  }

  edgeOf(pool: Address): Edge | undefined {
    return this.#edges.get(pool)
  }

  /**
   * Adds the pools of a path. Returns false and changes nothing when they would close a circle or make a path too
   * long.
   */
  admit(path: ReadonlyArray<PathHop>): boolean {
    const added = path.filter(({ pool }) => !this.#edges.has(pool.address))
    const turned = path.some(({ pool, from }) => (this.#edges.get(pool.address)?.from ?? from) !== from)
    if (turned) {
      return false
    }
    const order = ordered([...this.#edges.values(), ...added], this.#ends.inputMint, this.#ends.maxHops)
    if (order === null) {
      return false
    }
    for (const hop of added) {
      this.#edges.set(hop.pool.address, { ...hop, input: 0n, output: 0n, asked: 0n, gain: 0n })
    }
    this.#arrange(order)
    return true
  }

  /** Removes the pools that nothing flows through. */
  prune(): void {
    for (const [pool, { input }] of this.#edges) {
      if (input === 0n) {
        this.#edges.delete(pool)
      }
    }
    this.#arrange(ordered(this.#edges.values(), this.#ends.inputMint, this.#ends.maxHops) ?? [])
  }

  #arrange(order: ReadonlyArray<Mint>): void {
    this.#order = order
    this.#outgoing = Map.groupBy(this.#edges.values(), ({ from }) => from)
  }

  /** Finds the best path for an increase by `amount`; null when no path can take it. */
  bestIncrease(amount: bigint): Change | null {
    return this.#along(
      amount,
      (edge, input) => this.#gain(edge, input),
      (a, b) => a > b
    )
  }

  /** Finds the path where a decrease by `amount` costs least; null when no path carries that much. */
  leastDecrease(amount: bigint): Change | null {
    return this.#along(
      amount,
      (edge, input) => this.#loss(edge, input),
      (a, b) => a < b
    )
  }

  apply({ hops }: Change, sign: 1n | -1n): void {
    for (const { edge, input, output } of hops) {
      edge.input += sign * input
      edge.output += sign * output
      edge.asked = 0n
      edge.gain = 0n
    }
  }

  /** Outputs never fall when inputs grow, so the best way to a mint is always part of the best way through it. */
  #along(
    amount: bigint,
    outputOf: (edge: Edge, input: bigint) => bigint | null,
    isBetter: (a: bigint, b: bigint) => boolean
  ): Change | null {
    const reached = new Map<Mint, Reached>([[this.#ends.inputMint, { amount, via: null, before: null }]])
    for (const mint of this.#order) {
      const before = reached.get(mint)
      for (const edge of before === undefined ? [] : this.from(mint)) {
        const output = before === undefined ? null : outputOf(edge, before.amount)
        const known = reached.get(edge.to)
        if (output !== null && before !== undefined && (known === undefined || isBetter(output, known.amount))) {
          reached.set(edge.to, { amount: output, via: edge, before })
        }
      }
    }
    const end = reached.get(this.#ends.outputMint)
    return end === undefined ? null : changeOf(end)
  }

  #gain(edge: Edge, input: bigint): bigint | null {
    if (edge.asked !== input) {
      const swap = attempt(edge.pool, edge.from, edge.input + input, this.#clock)
      edge.asked = input
      edge.gain = swap.ending === "filled" && swap.amountOut > edge.output ? swap.amountOut - edge.output : null
    }
    return edge.gain
  }

  #loss(edge: Edge, input: bigint): bigint | null {
    if (input >= edge.input) {
      return input === edge.input ? edge.output : null
    }
    const swap = attempt(edge.pool, edge.from, edge.input - input, this.#clock)
    return swap.ending === "filled" && swap.amountOut < edge.output ? edge.output - swap.amountOut : null
  }
}
