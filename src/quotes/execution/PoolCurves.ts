/** The price curves of executed pools, sampled again when their accounts change. */
import { Effect } from "effect"
import type { ChainClock } from "../../domain/OnChainAccount.ts"
import type { Address } from "../../domain/Address.ts"
import type { LearnedPools } from "../pools/LearnedPools.ts"
import type { HeldPool } from "../pools/PoolCache.ts"
import { derive } from "./decodeFixture.ts"
import { executedVenues } from "./executedVenues.ts"
import type { ExecutionRefused, Executor, Urgency } from "./Executor.ts"
import { curveOf, type PriceCurve, sampledAmounts } from "./priceCurve.ts"
import { balanceIn } from "./traderAccounts.ts"

/** Both curves of a pool, and the state that they were sampled from. */
export interface PoolCurves {
  readonly pool: HeldPool
  /** The deployments that were executed. */
  readonly deployment: string
  readonly aToB: PriceCurve
  readonly bToA: PriceCurve
}

/** How many pools keep their curves. The ones that were asked for longest ago are dropped. */
const MOST_POOLS = 2000

const vaultBalances = (pool: HeldPool, learned: LearnedPools): readonly [bigint, bigint] => {
  const account = pool.accounts.get(pool.address)
  const known = pool.program === learned.program ? learned.get(pool.address) : undefined
  const venue = executedVenues.find(({ program }) => program.programId === pool.program.programId)
  const sides =
    known ??
    (account &&
      venue?.sides({ pool: account, accounts: (one) => pool.accounts.get(one), derive, foundBy: pool.foundBy }))
  const balance = (address: Address | undefined): bigint => {
    const data = address === undefined ? undefined : pool.accounts.get(address)?.data
    return data === undefined || data.length < 72 ? 0n : balanceIn(data)
  }
  return [balance(sides?.vaultA), balance(sides?.vaultB)]
}

/** Samples curves with an executor, and keeps the newest of each pool. */
export class CurveBook {
  readonly #executor: Pick<Executor["Service"], "deploymentOf" | "execute">
  readonly #learned: LearnedPools
  readonly #curves = new Map<Address, PoolCurves>()
  /** Pools whose curves are being sampled. */
  readonly #sampling = new Set<Address>()

  constructor(executor: Pick<Executor["Service"], "deploymentOf" | "execute">, learned: LearnedPools) {
    this.#executor = executor
    this.#learned = learned
  }

  /** The curves of a pool, perhaps of an older state; undefined before the first sample. */
  read({ address }: HeldPool): PoolCurves | undefined {
    return this.#curves.get(address)
  }

  /** True when the curves are of an older state and nobody samples them now. */
  isOld(pool: HeldPool): boolean {
    const known = this.#curves.get(pool.address)
    const isCurrent = known?.pool === pool && known.deployment === this.#executor.deploymentOf(pool)
    return !isCurrent && !this.#sampling.has(pool.address)
  }

  /** Executes the sampled amounts in both directions. */
  sample(pool: HeldPool, clock: ChainClock, urgency: Urgency): Effect.Effect<PoolCurves, ExecutionRefused> {
    return Effect.suspend(() => {
      const [a, b] = vaultBalances(pool, this.#learned)
      const ofSide = (aToB: boolean) =>
        sampledAmounts(aToB ? a : b).map((amount) => ({ aToB, exactOut: false, amount }))
      const sides = [ofSide(true), ofSide(false)] as const
      const deployment = this.#executor.deploymentOf(pool)
      this.#sampling.add(pool.address)
      return this.#executor.execute(pool, sides.flat(), clock, urgency).pipe(
        Effect.map((results) => {
          const first = sides[0].length
          const curves: PoolCurves = {
            pool,
            deployment,
            aToB: curveOf(sides[0], results.slice(0, first)),
            bToA: curveOf(sides[1], results.slice(first))
          }
          this.#keep(curves)
          return curves
        }),
        Effect.ensuring(Effect.sync(() => this.#sampling.delete(pool.address)))
      )
    })
  }

  /** The newest curves of the pools that were asked for lately. */
  all(): Iterable<PoolCurves> {
    return this.#curves.values()
  }

  #keep(curves: PoolCurves): void {
    const { address } = curves.pool
    this.#curves.delete(address)
    this.#curves.set(address, curves)
    const [oldest] = this.#curves.keys()
    if (this.#curves.size > MOST_POOLS && oldest !== undefined) {
      this.#curves.delete(oldest)
    }
  }
}
