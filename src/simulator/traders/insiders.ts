/** Coins whose creators pull the liquidity, and launched coins that everybody sells off. */
import { type Address, type Mint, SOL } from "../../domain/Address.ts"
import { type Call, programLog, pays, reads, signs, writes } from "../../programs/transactions/Call.ts"
import { inventAddress } from "../chain/addresses.ts"
import type { Deed } from "../chain/Ledger.ts"
import { METAPLEX_PROGRAM, metaplexSeeds } from "../chain/metadata.ts"
import type { SimMint, SimPool } from "../chain/SimPool.ts"
import { openAssociated } from "../chain/standardCalls.ts"
import { priceOf, sell } from "../chain/trade.ts"
import { programDeed } from "../chain/transactions.ts"
import type { Happening } from "../chain/World.ts"
import { falseNames } from "../pools/catalog.ts"
import { innerCalls } from "../pools/launchSteps.ts"
import { standardCpmm } from "../pools/newPool.ts"
import { newRaydiumCpmmPool } from "../pools/raydiumCpmmPools.ts"
import type { Stage } from "./stage.ts"
import type { Launches } from "./Launches.ts"
import { listing } from "./listing.ts"
import type { Listing } from "./retail.ts"

/** A coin whose creator holds the liquidity. */
interface Trap {
  readonly mint: SimMint
  readonly creator: Address
  readonly pool: SimPool
  readonly listing: Listing
  /** From this slot on the creator pulls the liquidity. */
  readonly endsAt: number
}

/** A trap opens every half hour. Its liquidity is pulled 8 to 40 minutes later. */
const TRAP_EVERY = 4_500
const TRAP_LIFE = [1_200, 6_000] as const
/** Decimals of the traps go from 0 to 12 in turn. */
const DECIMALS = 13
const PANIC = 4
/** Three of four launched coins are sold off, 40 minutes to 7 hours after their launch, by this many wallets at once. */
const FADING = 0.75
const FADE_AFTER = [6_000, 60_000] as const
const SELLERS = 25
/** Part of the launches that insiders buy at once, and how much SOL each of them pays. */
const BUNDLED = 0.4
const BUNDLE = [10, 32] as const

/** The instructions that create a mint with a name and put its supply into the creator's account. */
const mintCalls = (
  { world }: Stage,
  creator: Address,
  mint: Mint,
  trace: ReadonlyArray<Happening>
): ReadonlyArray<Call> => {
  const made = (kind: Happening["kind"]) =>
    innerCalls(
      world,
      creator,
      creator,
      trace.filter((happening) => happening.kind === kind)
    )
  const { owner } = world.bank.must(mint)
  const purse = world.purseAddress(creator, mint)
  const named = [
    writes(world.derive(METAPLEX_PROGRAM, metaplexSeeds(mint))),
    reads(mint),
    signs(creator),
    pays(creator)
  ]
  const metadata: Call = {
    program: METAPLEX_PROGRAM,
    accounts: named,
    data: Uint8Array.of(33),
    steps: [programLog("IX: Create Metadata Accounts v3"), ...made("account")],
    units: 30_000
  }
  return [
    ...made("mint"),
    metadata,
    openAssociated(creator, purse, mint, owner, world.bank.must(purse).data.length),
    ...made("issued")
  ]
}

export const makeInsiders = (stage: Stage, launches: Launches) => {
  const { cast, parties, random, ruggers, traded, world } = stage
  const traps: Array<Trap> = []
  const pulled = new Set<Trap>()
  /** The slots of the sell-offs by mint. */
  const fades = new Map<Mint, number>()
  const fallen = new Set<Mint>()
  let trappedAt = Number.NEGATIVE_INFINITY

  const openTrap = (slot: number): ReadonlyArray<Deed> => {
    const index = traps.length
    const creator = ruggers[index % ruggers.length] ?? cast.treasury
    const [symbol, name] = falseNames[index % falseNames.length] ?? ["COIN", "Coin"]
    const decimals = index % DECIMALS
    const address = inventAddress(world.seed, `trap ${index}`)
    const supply = 10n ** BigInt(decimals + (decimals > 9 ? 6 : 9))
    world.takeTrace()
    world.paidBy(creator, () =>
      world.newMint({
        address,
        decimals,
        authority: creator,
        freezeAuthority: index % 3 === 0 ? creator : null,
        transferFee: null,
        naming: { symbol, name }
      })
    )
    world.issue(world.purse(creator, address), address, supply)
    const calls = mintCalls(stage, creator, address, world.takeTrace())
    const launch = programDeed(world, parties(creator), "launch", calls, { signers: 2 })
    const pool = world.paidBy(creator, () =>
      newRaydiumCpmmPool(world, {
        label: `trap ${index}`,
        base: address,
        quote: SOL,
        baseAmount: (supply * 9n) / 10n,
        quoteAmount: BigInt(Math.floor(random.between(60, 150) * 1e9)),
        config: standardCpmm,
        creatorFeeOn: null,
        state: "open",
        depositors: { a: world.purseAddress(creator, address), b: creator },
        provider: creator
      })
    )
    const worth = priceOf(pool, address) * random.between(1.5, 6)
    traps.push({
      mint: { symbol, name, address, decimals },
      creator,
      pool,
      listing: listing(address, worth, 2, [pool], true),
      endsAt: slot + random.between(...TRAP_LIFE)
    })
    const created = pool.liquidity?.creation(world.takeTrace())
    return created === undefined
      ? [launch]
      : [launch, programDeed(world, parties(creator), "liquidity", [created.call], created)]
  }

  /** Everything that these wallets hold of a coin, sold by at most `most` of them in random order. */
  const sellOff = (pool: SimPool, mint: Mint, wallets: ReadonlyArray<Address>, most: number): ReadonlyArray<Deed> =>
    wallets
      .filter((wallet) => world.holding(wallet, mint) > 0n)
      .map((wallet) => ({ wallet, place: random.next() }))
      .toSorted((a, b) => a.place - b.place)
      .slice(0, most)
      .flatMap(({ wallet }) => traded(wallet, sell(world, wallet, pool, mint, world.holding(wallet, mint))))

  /** Removes all or nearly all liquidity. Holders then sell into what is left. */
  const pull = (trap: Trap): ReadonlyArray<Deed> => {
    const { creator, mint, pool } = trap
    pulled.add(trap)
    const held = pool.liquidity?.held() ?? 0n
    const removed = pool.liquidity?.change(random.chance(0.5) ? -held : (-held * 97n) / 100n)
    return removed === undefined
      ? []
      : [
          programDeed(world, parties(creator), "liquidity", [removed.call], removed),
          ...sellOff(pool, mint.address, cast.retail, PANIC)
        ]
  }

  /** Several wallets of one person buy a coin right after its launch. */
  const bundle = (curve: SimPool): ReadonlyArray<Deed> =>
    ruggers.flatMap((wallet) =>
      traded(wallet, sell(world, wallet, curve, SOL, BigInt(Math.floor(random.between(...BUNDLE) * 1e9))))
    )

  const fade = (slot: number): ReadonlyArray<Deed> =>
    launches.live().flatMap(({ curve, mint: { address }, pool }) => {
      const due = fades.get(address)
      if (due === undefined) {
        fades.set(address, random.chance(FADING) ? slot + random.between(...FADE_AFTER) : Number.POSITIVE_INFINITY)
        return random.chance(BUNDLED) ? bundle(curve) : []
      }
      if (slot < due || fallen.has(address)) {
        return []
      }
      fallen.add(address)
      return [ruggers, [...cast.snipers, ...cast.retail, ...cast.whales]].flatMap((wallets) =>
        sellOff(pool ?? curve, address, wallets, SELLERS)
      )
    })

  return {
    listings: () => traps.flatMap((trap) => (pulled.has(trap) ? [] : [trap.listing])),
    mints: () => traps.map(({ mint }) => mint),
    pools: () => traps.map(({ pool }) => pool),
    isFallen: (mint: Mint) => fallen.has(mint),
    act: (): ReadonlyArray<Deed> => {
      const { slot } = world.bank.clock()
      const isDue = slot - trappedAt >= TRAP_EVERY
      trappedAt = isDue ? slot : trappedAt
      const ending = traps.filter((trap) => !pulled.has(trap) && slot >= trap.endsAt)
      return [...ending.flatMap(pull), ...fade(slot), ...(isDue ? openTrap(slot) : [])]
    }
  }
}
