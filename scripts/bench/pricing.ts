/**
 * Time of one quote, per AMM program: `node scripts/bench/pricing.ts [--json]`.
 *
 * Pools are synthetic and warm. Amounts are spread evenly over all sizes, from one unit to all the liquidity there is,
 * in both directions. A sample is a batch of eight quotes, so that the 99th percentile still sees single slow ones.
 * The cost of a write to the pool has parts: `decode` reads the accounts, `table` is the first quote afterwards, which
 * sums up one direction to the end of its liquidity.
 */
import { isUnpriceable, type Pool, type Program } from "../../src/programs/interface/Program.ts"
import { dammV2At } from "../../src/programs/meteora/dammV2State.ts"
import { dbcConfigAt, dbcPoolAt } from "../../src/programs/meteora/dbcState.ts"
import { binPrice } from "../../src/programs/meteora/dlmmBins.ts"
import { dlmmPairAt } from "../../src/programs/meteora/dlmmPair.ts"
import { meteoraDammV2 } from "../../src/programs/meteora/dammV2.ts"
import { meteoraDbc } from "../../src/programs/meteora/dbc.ts"
import { meteoraDlmm } from "../../src/programs/meteora/dlmm.ts"
import { pumpCurve } from "../../src/programs/pump/curve.ts"
import { pumpSwap } from "../../src/programs/pump/pumpSwap.ts"
import { raydiumAmmV4 } from "../../src/programs/raydium/ammV4.ts"
import { raydiumCpmm } from "../../src/programs/raydium/cpmm.ts"
import { raydiumClmm } from "../../src/programs/raydium/clmm.ts"
import { whirlpool } from "../../src/programs/orca/whirlpool.ts"
import type { Mint } from "../../src/domain/Address.ts"
import { MAX_U64 } from "../../src/domain/Amount.ts"
import { makeBank } from "../../src/simulator/chain/Bank.ts"
import { makeMarket } from "../../src/simulator/traders/Market.ts"
import { dammV2With, dbcWith, dlmmWith } from "../../test/programs/meteora/meteoraPools.ts"
import {
  clmmFrom,
  clock,
  derive,
  type PoolPlan,
  randomFrom,
  type SyntheticPool,
  whirlpoolFrom
} from "../../test/programs/syntheticPools.ts"
import { percentile, report } from "./report.ts"

/** A pool with liquidity around its price on as many ticks as a busy pool has: about a hundred and twenty. */
const busy = (tickSpacing: number, feeRate: number): PoolPlan => {
  const random = randomFrom(42)
  const tick = -24_473
  const at = (offset: number) => (Math.floor(tick / tickSpacing) + offset) * tickSpacing
  const positions = Array.from({ length: 70 }, () => {
    const below = 1 + Math.floor(random() * 60)
    const above = 1 + Math.floor(random() * 60)
    return { lower: at(-below), upper: at(above), liquidity: 10n ** 12n + BigInt(Math.floor(random() * 1e15)) }
  })
  return { tickSpacing, tick, feeRate, positions }
}

/** A pair with liquidity in sixty bins on either side of its price, and a fee that rises with every one of them. */
const busyPair = (): SyntheticPool => {
  const random = randomFrom(42)
  const bins = Array.from({ length: 120 }, (_, i) => {
    const amount = BigInt(Math.floor(10 ** 9 + random() * 10 ** 10))
    const id = i < 60 ? -i : i - 59
    return { id, price: binPrice(id, 10) ?? 0n, ...(i < 60 ? { y: amount } : { x: amount }) }
  })
  return dlmmWith(bins, [[dlmmPairAt.variableFeeControl, 40_000n, 4]])
}

/** A pool halfway down an exponential fee schedule of an hour. */
const scheduledPool = (): SyntheticPool =>
  dammV2With([
    [dammV2At.cliffRate, 500_000_000n],
    [dammV2At.baseFeeMode, 1n, 1],
    [dammV2At.periods, 3600n, 2],
    [dammV2At.secondFactor, 1n],
    [dammV2At.reduction, 5n],
    [dammV2At.activationPoint, BigInt(clock.unixTimestamp - 1800)]
  ])

/** A curve of sixteen points, each 10 % up in square-root price, halfway through. */
const longCurve = (): SyntheticPool => {
  const points = Array.from({ length: 16 }, (_, i) => BigInt(Math.floor(1.1 ** (i + 1) * 2 ** 40)) << 20n)
  return dbcWith(
    [[dbcPoolAt.sqrtPrice, (points[7] ?? 0n) + 1n, 16]],
    [
      [dbcConfigAt.sqrtStartPrice, 1n << 60n, 16],
      [dbcConfigAt.migrationSqrtPrice, points[15] ?? 0n, 16],
      ...points.flatMap(
        (sqrtPrice, i) =>
          [
            [dbcConfigAt.curve + 32 * i, sqrtPrice, 16],
            [dbcConfigAt.curve + 32 * i + 16, 1n << 106n, 16]
          ] as const
      )
    ]
  )
}

interface Subject {
  readonly program: Program
  readonly synthetic: SyntheticPool
  /** The coin of a curve, where the account does not name it. */
  readonly foundBy?: Mint
}

const bank = makeBank({ seed: "bench", startSlot: 520_000_000, startUnixMs: clock.unixTimestamp * 1000 })
const market = makeMarket({ seed: "bench", bank, swapsPerSecond: 30 })

/** The first open pool of a venue in a freshly simulated market. */
const simulated = (program: Program): Subject => {
  const pool = market.pools().find(({ dex, open }) => dex === program.dex && open())
  if (pool === undefined) {
    throw new Error(`the simulated market has no ${program.dex}`)
  }
  return {
    program,
    synthetic: { pool: bank.must(pool.address), accounts: (address) => bank.get(address) ?? null },
    foundBy: pool.mintA
  }
}

/** The measured pools: one line a program. */
const subjects: ReadonlyArray<Subject> = [
  simulated(raydiumAmmV4),
  simulated(raydiumCpmm),
  simulated(pumpSwap),
  simulated(pumpCurve),
  { program: raydiumClmm, synthetic: clmmFrom(busy(1, 400)) },
  { program: whirlpool, synthetic: whirlpoolFrom(busy(4, 400)) },
  { program: meteoraDlmm, synthetic: busyPair() },
  { program: meteoraDammV2, synthetic: scheduledPool() },
  { program: meteoraDbc, synthetic: longCurve() }
]

const BATCH = 8
const BATCHES = 40_000
const REBUILDS = 2000

const decode = ({ foundBy, program, synthetic: { accounts, pool } }: Subject): Pool => {
  const decoded = program.decode(pool, accounts, derive, foundBy)
  if (isUnpriceable(decoded)) {
    throw new Error(`${program.dex}: ${decoded.detail}`)
  }
  return decoded
}

/** The most a direction takes; a curve without an end takes a trillion units. */
const capacity = (pool: Pool, aToB: boolean): bigint => {
  const { amountIn, ending } = pool.swap(aToB, MAX_U64, clock)
  return ending === "exhausted" ? amountIn : 10n ** 12n
}

interface Trade {
  readonly aToB: boolean
  readonly amount: bigint
}

const tradesFor = (pool: Pool): ReadonlyArray<Trade> => {
  const random = randomFrom(7)
  return Array.from({ length: 4096 }, (_, i) => {
    const aToB = i % 2 === 0
    const size = Math.log2(Number(capacity(pool, aToB)))
    return { aToB, amount: BigInt(Math.ceil(2 ** (random() * size))) }
  })
}

const elapsedNs = (work: () => void): number => {
  const start = process.hrtime.bigint()
  work()
  return Number(process.hrtime.bigint() - start)
}

const quotes = (pool: Pool): Float64Array => {
  const trades = tradesFor(pool)
  const samples = new Float64Array(BATCHES)
  let next = 0
  let paid = 0n
  const batch = () => {
    for (let i = 0; i < BATCH; i++) {
      const trade = trades[next++ % trades.length]
      if (trade !== undefined) {
        paid += pool.swap(trade.aToB, trade.amount, clock).amountOut
      }
    }
  }
  for (let i = 0; i < BATCHES; i++) {
    batch()
  }
  for (let i = 0; i < BATCHES; i++) {
    samples[i] = elapsedNs(batch) / BATCH
  }
  if (paid === 0n) {
    throw new Error("nothing was quoted")
  }
  return samples
}

/** Times decoding, and apart from it the first quote of each direction in turn. */
const rebuilds = (subject: Subject) => {
  const decoding = new Float64Array(REBUILDS)
  const summing = new Float64Array(REBUILDS)
  let fresh = decode(subject)
  const most = [capacity(fresh, true), capacity(fresh, false)] as const
  for (let i = -REBUILDS; i < REBUILDS; i++) {
    const aToB = i % 2 === 0
    const decodeNs = elapsedNs(() => {
      fresh = decode(subject)
    })
    const sumNs = elapsedNs(() => fresh.swap(aToB, most[aToB ? 0 : 1], clock))
    if (i >= 0) {
      decoding[i] = decodeNs
      summing[i] = sumNs
    }
  }
  return { decoding, summing }
}

const us = (ns: number | null): number | null => (ns === null ? null : Math.round(ns) / 1000)

const figuresOf = (subject: Subject) => {
  const quoted = quotes(decode(subject))
  const { decoding, summing } = rebuilds(subject)
  return {
    quoteMedianUs: us(percentile(quoted, 0.5)),
    quoteP99Us: us(percentile(quoted, 0.99)),
    decodeMedianUs: us(percentile(decoding, 0.5)),
    decodeP99Us: us(percentile(decoding, 0.99)),
    tableMedianUs: us(percentile(summing, 0.5)),
    tableP99Us: us(percentile(summing, 0.99))
  }
}

report("pricing", Object.fromEntries(subjects.map((subject) => [subject.program.dex, figuresOf(subject)])))
